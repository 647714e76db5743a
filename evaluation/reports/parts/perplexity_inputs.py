"""Loads runs on perplexity beside those of matched guise probing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.reports.parts.corpus_inputs import hash_rows, text_run_record
from evaluation.reports.parts.errors import ReportError
from probing.models import Run, RunStatus, TextScore

PERPLEXITY = "perplexity"


@dataclass(frozen=True)
class LoadedPerplexity:
    """Perplexities of a run.

    values : (pair, variety) → perplexity and how many tokens were scored; missing ones are not
        there
    """

    run: Run
    values: dict[tuple[str, str], tuple[float, int]]
    record: dict[str, Any]
    digest: str


def load_perplexity(run: Run) -> LoadedPerplexity:
    """Return the perplexities of a finished run. One query."""
    if run.status != RunStatus.FINISHED:
        raise ReportError(f"{run} is {run.get_status_display().lower()}, expected a finished run.")
    rows = (
        TextScore.objects.filter(run=run, name=PERPLEXITY)
        .order_by("pk")
        .values_list("pair", "variety", "value", "n")
    )
    found = [(pair, variety, value, n) for pair, variety, value, n in rows if value is not None]
    corpus = run.corpus.name if run.corpus else "no corpus"
    return LoadedPerplexity(
        run,
        {(pair, variety): (value, n) for pair, variety, value, n in found},
        text_run_record(run, f"{run.model.name}, perplexity of {corpus}") | {"missing": {}},
        hash_rows(map(list, found)),
    )


def split_runs(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Return the runs of matched guise probing, and those on perplexity."""
    return (
        [run for run in runs if run.measure != PERPLEXITY],
        [run for run in runs if run.measure == PERPLEXITY],
    )
