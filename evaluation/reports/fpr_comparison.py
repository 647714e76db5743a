"""Gaps in false positive rates of several classifiers side by side, on one set or several."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext_lazy as _

from evaluation.analyses.fpr_comparison import (
    AverageSpan,
    Extreme,
    FprComparison,
    GapSize,
    compare_models,
)
from evaluation.analyses.fpr_gaps import analyze_gaps
from evaluation.models import Report
from evaluation.reports.parts import gap_tables as gaps_of
from evaluation.reports.parts.document import Block, Document, KeyNumber, Section, Table
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import count, number, percent
from evaluation.reports.parts.gap_tables import SIDES, beyond_key, gap_figure
from evaluation.reports.parts.kind import AnalysisKind, Chosen, Loaded, RunsInput, Topic
from evaluation.reports.parts.meanings import BEYOND, SPAN
from evaluation.reports.parts.prediction_inputs import (
    MEASURES,
    GapParameters,
    load_model_predictions,
)
from evaluation.reports.parts.table import Column, ReportTable, pivot

# --- The tables of the comparison of classifiers ---


def average_table(result: FprComparison) -> ReportTable:
    """Return the spans of every model on every set and their mean, as in Table 4."""
    return ReportTable.of_rows(
        "averages",
        "Spans averaged over sets of sentences",
        result.averages,
        AverageSpan,
        *("model", "side"),
        *(
            Column(name, f"span_{name}", _at(place), 3)
            for place, name in enumerate(result.data_sets)
        ),
        *("average", "n_sets", "rank"),
        reason="reason",
    )


def extreme_table(result: FprComparison, names: Mapping[str, str]) -> ReportTable:
    return ReportTable.of_rows(
        "extremes",
        "How often a group has the largest or the smallest gap",
        result.extremes,
        Extreme,
        *("side", "group"),
        Column("Group", "group_name", lambda row: names.get(row.group, row.group)),
        *("n_highest", "n_lowest", "n", "share"),
    )


def size_table(result: FprComparison, names: Mapping[str, str]) -> ReportTable:
    return ReportTable.of_rows(
        "sizes",
        "Large and small gaps",
        result.sizes,
        GapSize,
        *("model", "data_set", "side", "group"),
        Column("Group", "group_name", lambda row: names.get(row.group, row.group)),
        *("value", "of_largest", "size"),
    )


def key_numbers(result: FprComparison) -> tuple[KeyNumber, ...]:
    keys = []
    for side in SIDES:
        known = [row for row in result.averages if row.side == side and row.n_sets]
        if known:
            smallest = min(known, key=lambda row: row.average)
            largest = max(known, key=lambda row: row.average)
            lines = (
                f"Smallest {number(smallest.average, 3)}, {smallest.model}",
                f"Largest {number(largest.average, 3)}, {largest.model}",
            )
            mean = number(statistics.fmean(row.average for row in known), 3)
            label = f"Span, {side} side, mean of {count(len(known), 'model')}"
            keys.append(KeyNumber(label, mean, lines=lines))
    beyond = beyond_key(result.models)
    return (*keys, *((beyond,) if beyond else ()))


def set_blocks(
    gaps: ReportTable, result: FprComparison, data_set: str, names: Mapping[str, str]
) -> tuple[Block, ...]:
    """Return figures and a narrow table of both sides on one set."""
    models = [model for model in result.models if model.data_set == data_set]
    found: list[Block] = []
    for side in SIDES:
        figure = gap_figure(gaps, models, side, result.options, words=False)
        # Names of figures are addresses: one for each set and side.
        place = result.data_sets.index(data_set) + 1
        found.append(replace(figure, name=f"gaps-{place}-{side}"))
        found.append(_narrow(gaps, side, data_set, names))
    return tuple(found)


def _narrow(gaps: ReportTable, side: str, data_set: str, names: Mapping[str, str]) -> Table:
    rows = [
        row
        for row in gaps.rows
        if row.gap.side == side
        and row.data_set == data_set
        and not row.gap.filler
        and row.gap.role != "placebo"
    ]
    gap = Column("", value="gap.gap.value", decimals=3, signed=True)
    groups = dict.fromkeys(row.gap.group for row in rows)
    return gaps.printed(
        f"{SIDES[side]}-sentiment gaps on {data_set}, mean over runs.",
        rows=pivot(rows, "model", "gap.group"),
        columns=(
            Column("Model", value="first.model"),
            *(
                replace(column, head=names.get(group, group), group="")
                for group in groups
                for column in gaps.side_by_side(group, (gap,))
            ),
        ),
        note="",
    )


def side_rows(table: ReportTable, side: str) -> list[Any]:
    return [row for row in table.rows if row.side == side]


def _at(place: int) -> Any:
    return lambda row: row.by_set[place]


#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Span, …": SPAN,
    "Gaps beyond the placebo band": BEYOND,
}


WHY_SPANS = (
    "The span is the largest minus the smallest mean gap of a model on a set: how far the groups "
    "lie apart."
)
WHY_EXTREMES = (
    "If a group is at an end of the gaps of most models, the sentences or the word may put it "
    "there. Ties count for every group."
)


class FprComparisonReport(AnalysisKind[FprComparison]):
    name = "fpr_comparison"
    title = _("Gaps in false positive rates of several classifiers")
    question = _("Which classifiers err more often when a group is named, and about which group?")
    topic = Topic.CLASSIFIERS
    meanings = MEANINGS
    Parameters = GapParameters
    Result = FprComparison
    runs = RunsInput(
        _("Runs of classification. Runs of one model on one set of sentences count together."),
        measures=MEASURES,
        most=None,
    )

    def default_title(self, chosen: Chosen) -> str:
        return "Which classifiers err more often when a group is named?"

    def load(self, chosen: Chosen, parameters: GapParameters) -> Loaded:
        """Three queries a run."""
        loaded = load_model_predictions(chosen.runs)
        for model in loaded.models:
            n = list(model.roles.values()).count("group")
            if n < 2:
                raise ReportError(
                    f"The runs of {model.model} on {model.data_set} compare {n} group, and a gap "
                    "needs at least two."
                )
        return Loaded(loaded.record, loaded.models, loaded.hashes)

    def analyze(self, loaded: Loaded, parameters: GapParameters) -> FprComparison:
        options = parameters.options
        models = [analyze_gaps(model, options) for model in loaded.data]
        return compare_models(models, options, loaded.record["classes"])

    def lay_out(self, report: Report, result: FprComparison, view: Mapping[str, str]) -> Document:
        record: dict[str, Any] = report.inputs
        names, options, level = record["groups"], result.options, percent(result.options.level)
        of_gaps = gaps_of.gap_level(options)
        gaps = gaps_of.gap_table(result.models, names, options, of_gaps)
        spans = gaps_of.span_table(result.models, names, level)
        together = gaps_of.together_table(result.models, level)
        accuracy = gaps_of.accuracy_table(result.models)
        averages = average_table(result)
        extremes = extreme_table(result, names)
        sizes = size_table(result, names)
        large = [row for row in result.sizes if row.size == "large" and row.side in gaps_of.SIDES]
        models = {model.model for model in result.models}
        return Document(
            question=(
                "The same sentences with one word changed: false positive rates of "
                f"{count(len(models), 'classifier')} on "
                f"{count(len(result.data_sets), 'set')} of sentences."
            ),
            facts=tuple(f"Sentences: {name}" for name in result.data_sets),
            keys=key_numbers(result),
            sections=(
                *(
                    Section(f"Gaps on {data_set}", set_blocks(gaps, result, data_set, names))
                    for data_set in result.data_sets
                ),
                *gaps_of.together_sections(together),
                Section(
                    "Spans",
                    tuple(
                        averages.printed(
                            f"Span of the {side}-sentiment gaps, and its mean over sets.",
                            rows=side_rows(averages, side),
                        )
                        for side in gaps_of.SIDES
                    ),
                    WHY_SPANS,
                ),
                Section(
                    "Extremes, and large gaps",
                    (
                        *(
                            extremes.printed(
                                f"Groups at an end of the {side}-sentiment gaps.",
                                rows=side_rows(extremes, side),
                            )
                            for side in gaps_of.SIDES
                        ),
                        sizes.printed(
                            "Gaps of at least 0.7 of the largest one of their side on their set.",
                            rows=large,
                            columns=(
                                Column("Model", value="model"),
                                Column("Sentences", value="data_set"),
                                Column("Side", value="side"),
                                "Group",
                                "Gap",
                                "Of the largest",
                            ),
                        ),
                    ),
                    WHY_EXTREMES,
                ),
                Section(
                    "Accuracy",
                    (accuracy.printed("Share of sentences about groups with the right label."),),
                ),
            ),
            tables=(
                gaps,
                gaps_of.rate_table(result.models),
                spans,
                together,
                averages,
                extremes,
                sizes,
                accuracy,
            ),
            method=(
                *gaps_of.method(options, of_gaps),
                "A model’s runs on a set count together. Ranks go by the average span, the "
                "smallest first. A gap is large from 0.7 and small up to 0.1 of the largest "
                "absolute mean gap of its side on its set.",
            ),
            caveats=(
                *gaps_of.mention_note(record),
                gaps_of.equivalence_note(result.models, options),
                *_uneven(result),
                *gaps_of.CAVEATS,
                *record["remarks"],
            ),
        )

    def headline(self, result: dict[str, Any]) -> str:
        known = [
            row["average"]
            for row in result["averages"]
            if row["side"] == "negative" and row["average"] is not None
        ]
        return f"spans {number(min(known), 3)} to {number(max(known), 3)}" if known else ""


def _uneven(result: FprComparison) -> tuple[str, ...]:
    """Return the caveat on averages over unlike sets of sentences, where there are any."""
    if len({row.n_sets for row in result.averages}) < 2:
        return ()
    return (
        "Not every model was asked about every set: an average is over the sets that a model has, "
        "so that ranks compare averages over unlike sets.",
    )
