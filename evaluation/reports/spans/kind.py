"""Spans: how well models guess what is hidden in texts of two varieties."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.common.lazy import pd
from annotation.common.row_order import order_rows
from evaluation.analyses.span_analysis import SpanOptions, SpanResult, analyze_spans
from evaluation.models import Report
from evaluation.reports.parts.corpus_inputs import (
    corpus_part,
    hash_rows,
    run_labels,
    text_run_record,
)
from evaluation.reports.parts.document import Document, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import percent, value_range
from evaluation.reports.parts.kind import AnalysisKind, Chosen, CorpusInput, Loaded, RunsInput
from evaluation.reports.parts.options import IntervalParameters
from evaluation.reports.parts.provenance import run_key
from evaluation.reports.parts.run_settings import settings_section, settings_table
from evaluation.reports.spans import prose, tables
from probing.models import TextScore

PLACES = {name: place for place, name in enumerate(tables.CONDITIONS)}
COLUMNS = ("name", "pair", "variety", "condition", "trial", "value", "reason")
ORDER = [COLUMNS.index(name) for name in ("name", "condition", "variety", "trial", "pair")]


class SpanParameters(IntervalParameters):
    """The options of a span report."""


class Spans(AnalysisKind[SpanResult]):
    name = "spans"
    title = _("Masked spans")
    question = _("Are hidden words of one variety harder for models to guess than of another?")
    meanings = prose.MEANINGS
    Parameters = SpanParameters
    Result = SpanResult
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
            rows = order_rows(TextScore.objects.filter(run=run).values_list(*COLUMNS), *ORDER)
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
                **corpus_part(corpus),
                "runs": [text_run_record(run, labels[run.pk]) for run in chosen.runs],
            },
            data=values,
            hashes=hashes,
        )

    def analyze(self, loaded: Loaded, parameters: SpanParameters) -> SpanResult:
        corpus = loaded.record["corpus"]
        return analyze_spans(
            loaded.data,
            SpanOptions(
                source_variety=corpus["source_variety"],
                target_variety=corpus["target_variety"],
                **parameters.bootstrap,
            ),
        )

    def lay_out(self, report: Report, result: SpanResult, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        runs, options = record["runs"], result.options
        level = percent(options.level)
        values = tables.value_table(result, level)
        changes = tables.change_table(result, level)
        settings = settings_table(runs)
        return Document(
            question=prose.question(result),
            keys=tables.key_numbers(changes),
            sections=(
                Section(
                    f"From {options.source_variety} to {options.target_variety}",
                    tables.change_blocks(changes, result),
                    prose.why_changes(result),
                ),
                Section(
                    "Values in either variety",
                    tuple(tables.narrow_values(values, result, name) for name in tables.NAMES),
                    prose.WHY_VALUES,
                ),
                settings_section(settings),
            ),
            tables=(values, changes, tables.trial_table(result), settings),
            method=prose.method(result, record),
            caveats=prose.CAVEATS,
            left_out=prose.left_out(result),
        )

    def headline(self, result: dict[str, Any]) -> str:
        found = value_range(
            (
                change["estimate"]["value"]
                for change in result["changes"]
                if change["name"] == tables.PERPLEXITY
            ),
            decimals=0,
            signed=True,
        )
        return found and f"perplexity {found} %"
