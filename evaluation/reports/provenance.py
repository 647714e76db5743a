"""Lines of provenance that reports share: corpus, runs, code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.models import Origin
from evaluation.models import Report
from evaluation.reports.document import Provenance
from evaluation.reports.formatting import count
from evaluation.reports.score_words import all_options

SHOWN_DIGITS = 16


def corpus_lines(record: dict[str, Any], *, n_pairs: int, digest: str) -> list[Provenance]:
    """Return the corpus with its licence and the hash of its pairs."""
    return [
        ("Corpus", f"{record['name']}, {count(n_pairs, 'pair')}", _sha(digest)),
        ("Licence", record["licence"], ""),
    ]


def corpus_lines_bare(record: dict[str, Any]) -> list[Provenance]:
    """Return the corpus of a report that rests on a study of it."""
    return [("Corpus", record["name"], record["public_id"]), ("Licence", record["licence"], "")]


def access_caveats(corpus: dict[str, Any]) -> list[str]:
    """Return how readers come by the texts, where the corpus says so."""
    return [f"Access to the texts: {corpus['access_note']}"] if corpus["access_note"] else []


def word_list_lines(record: dict[str, Any] | None) -> list[Provenance]:
    """Return the word list that toxicity was counted by, if any."""
    if record is None:
        return []
    return [("Word list", f"{record['title']}, {record['licence']}", _sha(record["hash"]))]


def run_lines(runs: Sequence[dict[str, Any]], hashes: dict[str, str]) -> list[Provenance]:
    """Return every run with its model's revision, seed and the hash of its results."""
    lines: list[Provenance] = []
    for run in runs:
        text = f"{run['model']}, seed {run['seed']}"
        lines.append((f"Run {run['number']}", text, _sha(hashes[run_key(run)])))
        lines.append(("Model revision", "", run["model_revision"] or "not recorded"))
        lines.append((f"Options of run {run['number']}", "", all_options(run)))
    return lines


def rated_run_lines(study: dict[str, Any], runs: Sequence[dict[str, Any]]) -> list[Provenance]:
    """Return the ratings of a study, then the runs that are set beside them."""
    ratings = f"instrument {study['instrument_version']}, {count(study['ratings'], 'rating')}"
    return [
        ("Ratings", f"{study['title']}, {ratings}", _sha(study["ratings_hash"])),
        *run_lines(runs, {run_key(run): run["scores_hash"] for run in runs}),
    ]


def run_key(run: dict[str, Any]) -> str:
    """Return the name of a run's data among the hashes of a report."""
    return f"run {run['public_id']}"


def study_lines(record: dict[str, Any], *, what: str, digest: str) -> list[Provenance]:
    """Return the study with what of it went in."""
    return [("Study", f"{record['title']}, {what}", _sha(digest))]


def closing_lines(report: Report) -> tuple[Provenance, ...]:
    """Return options, code, libraries and time, which end every report."""
    options = ", ".join(
        f"{name} {_shown(value)}" for name, value in report.parameters.items() if value is not None
    )
    built = f"{report.built_at:%-d %B %Y, %H:%M} UTC, in {report.seconds:g} s"
    return (
        ("Options", "", options),
        ("Code", "", report.code_version),
        (
            "Libraries",
            ", ".join(f"{name} {text}" for name, text in report.library_versions.items()),
            "",
        ),
        ("Built", built, ""),
        ("Report", "", report.public_id),
    )


def banners(runs: Sequence[dict[str, Any]] = (), origin: str = "") -> tuple[str, ...]:
    """Return what a reader must know before the first number."""
    found = []
    if origin == Origin.SIMULATED:
        found.append(
            "Simulated data: no person gave them. They show how a report looks and are not a "
            "finding."
        )
    if any(run["is_demo"] for run in runs):
        found.append(
            "Demo model: a fixture without knowledge of the world. Its output means nothing."
        )
    return tuple(found)


def _shown(value: Any) -> str:
    """Return an option as a line has room for it; the record holds it whole."""
    text = str(value)
    lines = text.strip().splitlines()
    return text if len(lines) < 2 else f"of {count(len(lines), 'line')}"


def _sha(digest: str) -> str:
    return f"sha256 {digest[:SHOWN_DIGITS]}"
