"""Lines of provenance that reports share: corpus, runs, code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

from annotation.models import Origin
from evaluation.models import Report
from evaluation.reports.parts.document import Provenance
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.records import CorpusRecord, RunRecord, StudyRecord
from evaluation.reports.parts.score_words import all_options
from probing.models import Run

SHOWN_DIGITS = 16

#: Why numbers were taken out of a record that is shared, where any were.
WITHHELD = "withheld"


def corpus_lines_bare(record: CorpusRecord) -> list[Provenance]:
    """Return a corpus and its license."""
    return [("Corpus", record["name"], record["public_id"]), ("License", record["license"], "")]


def access_caveats(corpus: CorpusRecord) -> list[str]:
    """Return how readers come by the texts, where the corpus says so."""
    return [f"Access to the texts: {corpus['access_note']}"] if corpus["access_note"] else []


def word_list_lines(record: dict[str, Any] | None) -> list[Provenance]:
    """Return the word list that toxicity was counted by, if any."""
    if record is None:
        return []
    return [("Word list", f"{record['title']}, {record['license']}", sha(record["hash"]))]


def source_lines(record: dict[str, Any]) -> list[Provenance]:
    """Return what a report rests on: study, corpus, runs, word list, and the hashes of its data."""
    study, corpus = record.get("study", {}), record.get("corpus")
    hashes, runs = record["hashes"], record_runs(record)
    if "ratings_hash" in study:
        return rated_run_lines(study, runs)
    told = {"word list", *map(run_key, runs)}
    others = [name for name in hashes if name not in told]
    return [
        *([("Study", study["title"], study["public_id"])] if study else []),
        *(corpus_lines_bare(corpus) if corpus else []),
        *run_lines(runs, hashes),
        *word_list_lines(record.get("word_list")),
        *((name.capitalize(), "", sha(hashes[name])) for name in others),
    ]


def source_facts(record: dict[str, Any]) -> tuple[str, ...]:
    """Return study, corpus and runs in the fewest words."""
    runs = record_runs(record)
    return (
        *([f"Study: {record['study']['title']}"] if "study" in record else []),
        *([f"Corpus: {record['corpus']['name']}"] if "corpus" in record else []),
        *(f"Run {run['number']}: {run.get('label', run['model'])}" for run in runs),
    )


def record_runs(record: dict[str, Any]) -> list[RunRecord]:
    """Return the runs of a record that may have one, several or none."""
    runs: list[RunRecord] = [record["run"]] if "run" in record else record.get("runs", [])
    return runs


def run_lines(runs: Sequence[RunRecord], hashes: dict[str, str]) -> list[Provenance]:
    """Return every run with its model's revision, seed and the hash of its results."""
    lines: list[Provenance] = []
    for run in runs:
        text = f"{run['model']}, seed {run['seed']}"
        lines.append((f"Run {run['number']}", text, sha(hashes[run_key(run)])))
        if obtained := run.get("obtained"):
            lines.append((f"Run {run['number']}, imported", obtained, ""))
        lines.append(("Model revision", "", run["model_revision"] or "not recorded"))
        lines.append((f"Options of run {run['number']}", "", all_options(run)))
    return lines


def rated_run_lines(study: StudyRecord, runs: Sequence[RunRecord]) -> list[Provenance]:
    """Return the ratings of a study, then the runs that are set beside them."""
    ratings = f"instrument {study['instrument_version']}, {count(study['ratings'], 'rating')}"
    return [
        ("Ratings", f"{study['title']}, {ratings}", sha(study["ratings_hash"])),
        *run_lines(runs, {run_key(run): run["scores_hash"] for run in runs}),
    ]


def run_key(run: Mapping[str, object]) -> str:
    """Return the name of a run's data among the hashes of a report."""
    return f"run {run['public_id']}"


def closing_lines(report: Report) -> tuple[Provenance, ...]:
    """Return options, code, libraries and time, which end every report."""
    options = ", ".join(
        f"{name} {_shown(value)}"
        for name, value in report.parameters.items()
        if value is not None and str(value).strip()
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


def banners(
    runs: Sequence[RunRecord] = (), origin: str = "", obtained: str = ""
) -> tuple[str, ...]:
    """Return what a reader must know before the first number.

    obtained : how the answers of an imported study were
    """
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
    if obtained:
        found.append(f"Imported: these answers were not collected here. {obtained}")
    return (*found, *imported_banners(runs))


def imported_banners(runs: Sequence[RunRecord]) -> tuple[str, ...]:
    """Return one sentence for every run that was not computed here."""
    return tuple(
        f"Imported: the results of {run['model']} (run {run['number']}) were not computed here. "
        f"{run['obtained']}"
        for run in runs
        if run.get("obtained")
    )


class OriginRecord(TypedDict, total=False):
    """How results were obtained that were not computed here; of others, nothing."""

    obtained: str


def origin_record(run: Run) -> OriginRecord:
    return {"obtained": run.obtained} if run.is_imported else {}


def _shown(value: Any) -> str:
    """Return an option as a line has room for it; the record holds it whole."""
    text = str(value)
    lines = text.strip().splitlines()
    return text if len(lines) < 2 else f"of {count(len(lines), 'line')}"


def sha(digest: str) -> str:
    """Return a SHA-256 as a line has room for it."""
    return f"sha256 {digest[:SHOWN_DIGITS]}"
