"""What a run's scores rest on, in the words of reports: templates, or sentences of a corpus."""

from __future__ import annotations

from typing import Any

from evaluation.reports.formatting import count
from probing.models import Run

CORPUS_CAVEAT = (
    "The scores rest on sentences of one corpus: in other texts the same words may stand "
    "otherwise, and groups that are rarely named have few sentences."
)


def sentence_source(run: Run) -> dict[str, Any] | None:
    """Return what a report keeps of a run's sentences; None for a run on templates."""
    source: dict[str, Any] | None = run.stimuli.get("source")
    return source


def scored_over(run: dict[str, Any]) -> str:
    """Return what a recorded run's scores were computed over, as in “averaged over 2 templates”.

    run : the record of a run, with its ``templates`` and ``sentences``
    """
    if not is_read_in_sentences(run):
        return f"averaged over {count(len(run['templates']), 'template')}"
    source = run["sentences"]
    return (
        f"in up to {source['per_word']:,} sentences for each word, drawn from "
        f"{source['n_sentences']:,} of “{source['name']}”"
    )


def is_read_in_sentences(run: dict[str, Any]) -> bool:
    """Return whether a recorded run read its groups in sentences, not in templates."""
    return bool(run.get("sentences"))
