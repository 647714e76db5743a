"""Gaps in false positive rates: whether a classifier errs more often when a group is named."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from evaluation.analyses.fpr_classifier import FprGaps, analyze_classifier
from evaluation.models import Report
from evaluation.reports.fpr_gaps import prose, tables
from evaluation.reports.fpr_gaps.surprisals import read_surprisals, stored_surprisals
from evaluation.reports.parts import gap_tables as gaps_of
from evaluation.reports.parts.corpus_inputs import run_record
from evaluation.reports.parts.document import Document, Section
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import number, percent
from evaluation.reports.parts.kind import AnalysisKind, Chosen, Loaded, ReportParameters, RunsInput
from evaluation.reports.parts.prediction_inputs import (
    MEASURES,
    GapParameters,
    load_model_predictions,
    producer_of,
    sentences_hash,
)
from evaluation.reports.parts.provenance import run_key
from evaluation.reports.parts.table import ReportTable
from probing.measures.mention_surprisal import MentionSurprisal
from probing.models import Run


class FprGapParameters(GapParameters):
    """The options of a report on the gaps of one classifier."""

    surprisals: str | None = Field(
        None,
        max_length=1_000_000,
        description="How surprising each mention is, as CSV with the columns group, word, "
        "surprisal (nats, best of the same model; lines of one word are averaged). Gaps are then "
        "regressed on it. A run of mention_surprisal among the runs serves as well.",
        json_schema_extra={"format": "csv"},
    )


class FprGapReport(AnalysisKind[FprGaps]):
    name = "fpr_gaps"
    title = _("Gaps in false positive rates")
    question = _("Does a classifier err more often when one group is named than another?")
    meanings = prose.MEANINGS
    Parameters = FprGapParameters
    Result = FprGaps
    runs = RunsInput(
        _(
            "Runs of classification with one model, or with models trained from one, on one set; "
            "and perhaps a run with the surprisal of the mentions, best of the same model."
        ),
        measures=(*MEASURES, MentionSurprisal.name),
        most=None,
    )

    def check(self, chosen: Chosen, parameters: ReportParameters) -> None:
        runs, read = _split(chosen.runs)
        if not runs:
            raise ReportError("No run of classification is chosen. Choose at least one.")
        if len(read) > 1 or (read and getattr(parameters, "surprisals", None) is not None):
            raise ReportError(
                "The surprisal of the mention comes from several places. Choose one run of "
                "mention_surprisal, or give a file, not both."
            )
        producers = list(dict.fromkeys(producer_of(run) for run in runs))
        if len(producers) > 1 or len(set(map(sentences_hash, runs))) > 1:
            what = f"{len(producers)} models" if len(producers) > 1 else "several sets of sentences"
            raise ReportError(
                f"The runs are of {what}. Choose runs of one model on one set, or ask for a report "
                "of the kind “fpr_comparison”."
            )

        if isinstance(parameters, FprGapParameters) and parameters.surprisals is not None:
            read_surprisals(parameters.surprisals)

    def default_title(self, chosen: Chosen) -> str:
        run = next(iter(_split(chosen.runs)[0]), chosen.runs[0])
        return f"Does {producer_of(run)} err more often when a group is named?"

    def load(self, chosen: Chosen, parameters: FprGapParameters) -> Loaded:
        """Three queries a run."""
        runs, read = _split(chosen.runs)
        loaded = load_model_predictions(runs)
        (model,) = loaded.models
        _require_groups(model.roles)
        text = parameters.surprisals
        surprisals = None if text is None else read_surprisals(text, loaded.record["words"])
        for run in read:
            surprisals, digest = stored_surprisals(run, loaded.record["words"])
            loaded.record["runs"].append(run_record(run) | {"counts_for": run.model.name})
            loaded.hashes[run_key({"public_id": run.public_id})] = digest
        return Loaded(loaded.record, (model, surprisals), loaded.hashes)

    def analyze(self, loaded: Loaded, parameters: FprGapParameters) -> FprGaps:
        options = parameters.options
        model, surprisals = loaded.data
        return analyze_classifier(model, options, surprisals, tuple(gaps_of.SIDES))

    def lay_out(self, report: Report, result: FprGaps, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        own, options, level = result.result, result.options, percent(result.options.level)
        models, of_gaps = (own,), gaps_of.gap_level(options)
        gaps = gaps_of.gap_table(models, record["groups"], options, of_gaps)
        spans = gaps_of.span_table(models, record["groups"], level)
        together = gaps_of.together_table(models, level)
        accuracy = gaps_of.accuracy_table(models)
        mention = tables.mention_table(own, level)
        sides = [
            Section(f"{title} side", tables.side_blocks(gaps, own, side, options), prose.WHY[side])
            for side, title in gaps_of.SIDES.items()
        ]
        words = tuple(
            block for side in gaps_of.SIDES for block in tables.word_blocks(gaps, side, options)
        )
        of_mention = Section(
            "Surprisal of the mention",
            (
                mention.printed(
                    "Least-squares lines of the words’ gaps on their surprisal in nats.",
                    rows=[fit for fit in own.mention if fit.side in gaps_of.SIDES],
                ),
            ),
            prose.WHY_MENTION,
        )
        more = tuple(
            (table, section)
            for table, section in (
                _section(
                    tables.fallback_table(result, record["groups"], of_gaps),
                    "Gaps under other ways to count answers without a class.",
                    prose.WHY_FALLBACK,
                ),
                _section(
                    tables.factor_table(result, level),
                    "Shares of the variance of gaps over runs.",
                    prose.WHY_FACTORS,
                ),
                _section(
                    tables.mixed_table(result, record["groups"], level),
                    "Effects of groups on the log odds of a false positive.",
                    prose.WHY_MIXED,
                ),
            )
            if table.rows
        )
        return Document(
            question=prose.question(result, record),
            facts=(f"{own.model}", f"Sentences: {own.data_set}"),
            keys=tables.key_numbers(result, spans, of_gaps),
            sections=(
                *sides,
                *gaps_of.together_sections(together),
                Section("Word by word", words, prose.WHY_WORDS),
                *((of_mention,) if own.mention else ()),
                *(section for _, section in more),
                Section(
                    "Spans and accuracy",
                    (
                        spans.printed(
                            "Span of the gaps on either side.",
                            rows=[row for row in spans.rows if row["span"].side in gaps_of.SIDES],
                        ),
                        accuracy.printed("Share of sentences about groups with the right label."),
                    ),
                    prose.WHY_SPANS,
                ),
            ),
            tables=(
                *(
                    gaps,
                    gaps_of.rate_table(models),
                    spans,
                    together,
                    accuracy,
                    mention,
                ),
                *(table for table, _ in more),
            ),
            method=(*gaps_of.method(options, of_gaps), *prose.method(result)),
            caveats=(
                *gaps_of.mention_note(record),
                gaps_of.equivalence_note(models, options),
                *gaps_of.CAVEATS,
                *record["remarks"],
            ),
        )

    def headline(self, result: dict[str, Any]) -> str:
        spans = [
            span["span"]["value"]
            for span in result["result"]["spans"]
            if span["side"] == "negative" and span["span"]["value"] is not None
        ]
        return f"span {number(spans[0], 3)}" if spans else ""


def _split(runs: Sequence[Run]) -> tuple[list[Run], list[Run]]:
    """Return the runs with predictions, and those with surprisals."""
    read = [run for run in runs if run.measure == MentionSurprisal.name]
    return [run for run in runs if run.measure != MentionSurprisal.name], read


def _section(table: ReportTable, caption: str, why: str) -> tuple[ReportTable, Section]:
    """Return a table with its section, printed for the sides that the report is about."""
    rows = [
        row
        for row in table.rows
        if (row["fit"] if isinstance(row, dict) else row).side in gaps_of.SIDES
    ]
    return table, Section(table.title, (table.printed(caption, rows=rows),), why)


def _require_groups(roles: Mapping[str, str]) -> None:
    n = list(roles.values()).count("group")
    if n < 2:
        raise ReportError(f"The runs compare {n} group, and a gap needs at least two.")
