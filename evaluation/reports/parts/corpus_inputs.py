"""Loads the pairs of a corpus, and says of corpora and runs what a report's record keeps."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

from annotation.common.lazy import pd
from annotation.common.row_order import order_rows
from annotation.counterparts.adjudication import Annotation
from annotation.models import Corpus, Split, TextPair
from evaluation.reports.parts.data_statement import load_statement
from evaluation.reports.parts.provenance import origin_record
from evaluation.reports.parts.records import CorpusRecord, RunRecord
from probing.models import Run


@dataclass(frozen=True)
class PairRow:
    """A pair of a corpus: its slug, where it was drawn from, both bodies and their varieties'."""

    slug: str
    source: str
    source_body: str
    target_body: str


def load_pairs(corpus: Corpus) -> list[PairRow]:
    """Return the pairs that are evaluated, by slug; training pairs never are. One query."""
    rows = TextPair.objects.filter(corpus=corpus, source_text__split=Split.EVALUATION).values_list(
        "slug", "source_text__source", "source_text__body", "target_text__body"
    )
    return [PairRow(*row) for row in order_rows(rows, 0)]


def hash_rows(rows: Iterable[Any]) -> str:
    """Return the SHA-256 of rows in their order: dataclasses, or lists of plain values."""
    digest = hashlib.sha256()
    for row in rows:
        values = row if isinstance(row, list | tuple) else astuple(row)
        digest.update(json.dumps(values, ensure_ascii=False).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def corpus_record(corpus: Corpus) -> CorpusRecord:
    """Return what a report keeps of its corpus."""
    return {
        "public_id": corpus.public_id,
        "name": corpus.name,
        "source_variety": corpus.source_variety,
        "target_variety": corpus.target_variety,
        "license": corpus.license,
        "access_note": corpus.access_note,
        "citation": corpus.citation,
    }


def corpus_part(corpus: Corpus) -> dict[str, Any]:
    """Return the part of a report's record that is on its corpus, with the data statement."""
    return {"corpus": corpus_record(corpus), "statement": load_statement(corpus)}


def run_record(run: Run) -> RunRecord:
    """Return what a report keeps of a run."""
    record: RunRecord = {
        "number": run.pk,
        "public_id": run.public_id,
        "measure": run.measure,
        "model": run.model.name,
        "model_revision": run.model_revision,
        "is_demo": run.model.is_demo,
        "parameters": run.parameters,
        "seed": run.seed,
        "stimuli_hash": run.stimuli_hash,
        "code_version": run.code_version,
        "notices": run.notices,
    }
    return record | origin_record(run)


def text_run_record(run: Run, label: str) -> RunRecord:
    """Return what a report keeps of a run on texts: with its prompts, as models read them."""
    return run_record(run) | {
        "label": label,
        "prompts": [
            {"text": prompt["text"], "variety_names": prompt.get("variety_names") or {}}
            for prompt in run.stimuli.get("prompts", ())
        ],
        "n_examples": len(run.stimuli.get("examples", ())),
    }


def run_labels(runs: Iterable[Run], *, reserved: tuple[str, ...] = ()) -> dict[int, str]:
    """Return how tables name the producer of every run: its model, with the run where needed."""
    listed = list(runs)
    names = [run.model.name for run in listed]
    return {
        run.pk: run.model.name
        if names.count(run.model.name) == 1 and run.model.name not in reserved
        else f"{run.model.name} (run {run.pk})"
        for run in listed
    }


def to_annotation_frame(annotations: Sequence[Annotation]) -> pd.DataFrame:
    """Return annotations as the analysis takes them."""
    return pd.DataFrame([asdict(row) for row in annotations]).rename(
        columns={"text_slug": "text", "annotator_number": "annotator"}
    )
