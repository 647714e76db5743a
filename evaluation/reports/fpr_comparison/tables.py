"""The tables of the comparison of classifiers: Table 4 and Figures 1 to 4 of Kohankhaki et al."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evaluation.analyses.fpr_comparison import FprComparison
from evaluation.reports.parts.document import Block, KeyNumber, Table
from evaluation.reports.parts.formatting import count, number
from evaluation.reports.parts.gap_tables import SIDES, beyond_key, gap_figure
from evaluation.reports.parts.table import Column, ReportTable, downloaded, pivot


def average_table(result: FprComparison) -> ReportTable:
    """Return the spans of every model on every set and their mean, as in Table 4."""
    return ReportTable.of(
        "averages",
        "Spans averaged over sets of sentences",
        result.averages,
        Column("Model", "model"),
        Column("", "side"),
        *(
            Column(name, f"span_{name}", _at(place), 3)
            for place, name in enumerate(result.data_sets)
        ),
        Column("Average", "average", decimals=3, style="strong"),
        Column("Sets", "n_sets", decimals=0),
        Column("Rank", "rank", decimals=0, meaning="1 for the smallest average"),
        reason="reason",
    )


def extreme_table(result: FprComparison, names: Mapping[str, str]) -> ReportTable:
    return ReportTable.of(
        "extremes",
        "How often a group has the largest or the smallest gap",
        result.extremes,
        *downloaded("side", "group"),
        Column("Group", "group_name", lambda row: names.get(row.group, row.group)),
        Column("Largest", "n_highest", decimals=0),
        Column("Smallest", "n_lowest", decimals=0),
        Column("Of", "n", decimals=0, meaning="models and sets"),
        Column("Either, %", "share", decimals=0, scale=100, style="strong"),
    )


def size_table(result: FprComparison, names: Mapping[str, str]) -> ReportTable:
    return ReportTable.of(
        "sizes",
        "Large and small gaps",
        result.sizes,
        *downloaded("model", "data_set", "side", "group"),
        Column("Group", "group_name", lambda row: names.get(row.group, row.group)),
        Column("Gap", "gap", "value", 3, signed=True),
        Column(
            "Of the largest",
            "of_largest",
            decimals=2,
            meaning="absolute gap as a share of the largest one of its side on its set",
        ),
        Column("", "size", meaning="large from 0.7 on, small up to 0.1"),
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
