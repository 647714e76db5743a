"""Spans: how well models guess what is hidden in texts of two varieties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from django.utils.translation import gettext_lazy as _

from evaluation.analyses import from_plain, to_plain
from evaluation.analyses.span_analysis import SpanOptions, SpanResult, analyse_spans
from evaluation.models import Report
from evaluation.reports.corpus_inputs import corpus_record, hash_rows, run_labels, text_run_record
from evaluation.reports.data_statement import load_statement
from evaluation.reports.document import Document
from evaluation.reports.errors import ReportError
from evaluation.reports.formatting import number
from evaluation.reports.kinds.base import Chosen, CorpusInput, Loaded, ReportKind, RunsInput
from evaluation.reports.kinds.options import IntervalParameters
from evaluation.reports.provenance import run_key
from evaluation.reports.spans_document import CONDITIONS, lay_out_spans
from probing.models import TextScore

PLACES = {name: place for place, name in enumerate(CONDITIONS)}
COLUMNS = ("name", "pair", "variety", "condition", "trial", "value", "reason")


class SpanParameters(IntervalParameters):
    """The options of a span report."""


class Spans(ReportKind):
    name = "spans"
    title = _("Masked spans")
    question = _("Are hidden words of one variety harder for models to guess than of another?")
    Parameters = SpanParameters
    corpus = CorpusInput(_("The corpus whose texts the models were asked about."))
    runs = RunsInput(
        _("Runs of masked span prediction on that corpus. The report waits for all of them."),
        measures=("span_prediction",),
        most=None,
    )

    def default_title(self, chosen: Chosen) -> str:
        corpus = chosen.the_corpus
        return (
            f"Is {corpus.source_variety} harder to fill in than {corpus.target_variety}, in "
            f"{corpus}?"
        )

    def load(self, chosen: Chosen, parameters: SpanParameters) -> Loaded:
        corpus = chosen.the_corpus
        labels = run_labels(chosen.runs)
        frames, hashes = [], {}
        for run in chosen.runs:
            rows = list(
                TextScore.objects.filter(run=run)
                .order_by("name", "condition", "variety", "trial", "pair")
                .values_list(*COLUMNS)
            )
            hashes[run_key({"public_id": run.public_id})] = hash_rows(rows)
            # Any words first, then phrases, as the paper's tables have it.
            rows.sort(key=lambda row: PLACES.get(row[COLUMNS.index("condition")], len(PLACES)))
            frames.append(pd.DataFrame(rows, columns=list(COLUMNS)).assign(model=labels[run.pk]))
        values = pd.concat(frames, ignore_index=True)
        if values.empty:
            raise ReportError("The runs have no value of any text.")
        values["value"] = values["value"].astype(float)
        return Loaded(
            record={
                "corpus": corpus_record(corpus),
                "runs": [text_run_record(run, labels[run.pk]) for run in chosen.runs],
                "statement": load_statement(corpus),
            },
            data=values,
            hashes=hashes,
        )

    def compute(self, loaded: Loaded, parameters: SpanParameters) -> dict[str, Any]:
        corpus = loaded.record["corpus"]
        result = analyse_spans(
            loaded.data,
            SpanOptions(
                source_variety=corpus["source_variety"],
                target_variety=corpus["target_variety"],
                seed=parameters.seed,
                n_resamples=parameters.resamples,
                level=parameters.level,
            ),
        )
        plain: dict[str, Any] = to_plain(result)
        return plain

    def document(self, report: Report, view: Mapping[str, str]) -> Document:
        return lay_out_spans(report, from_plain(SpanResult, report.result))

    def headline(self, result: dict[str, Any]) -> str:
        known = [
            change["estimate"]["value"]
            for change in result["changes"]
            if change["name"] == "span_perplexity" and change["estimate"]["value"] is not None
        ]
        if not known:
            return ""
        low, high = (number(part, 0, signed=True) for part in (min(known), max(known)))
        return f"perplexity {low} %" if low == high else f"perplexity {low} to {high} %"
