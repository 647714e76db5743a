"""The tables of the report on one classifier's false positive rates."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.fpr_gaps import FprGaps, GapOptions, ModelGaps
from evaluation.reports.parts.document import Block, KeyNumber
from evaluation.reports.parts.gap_tables import (
    ROLE_NAMES,
    SIDES,
    beyond_key,
    gap_figure,
    span_key,
    unmarked_keys,
)
from evaluation.reports.parts.table import Column, ReportTable, ranked

GROUP_COLUMNS = ("Words", "n", "fpr", "gap", "± released", "± t", "Beyond band", "equivalence_p")


def mention_table(result: ModelGaps, level: str) -> ReportTable:
    """Return the fits of gaps on the surprisal of the mention; empty where it was not measured."""
    return ReportTable(
        "mention",
        "Gaps on the surprisal of the mention",
        result.mention,
        (
            Column("Side", "side"),
            Column(
                "Slope",
                "slope",
                decimals=4,
                signed=True,
                with_interval=True,
                meaning="change of the gap for a nat of surprisal, over words",
            ),
            Column("Explained, %", "explained", decimals=0, scale=100),
            Column("Words", "n_words", "slope.n", 0),
            Column("", "reason", "slope.note"),
        ),
        level,
        note="slope.note",
    )


def key_numbers(result: FprGaps, spans: ReportTable, level: str) -> tuple[KeyNumber, ...]:
    models = (result.result,)
    of_spans = (
        span_key(spans, row, f"Span, {row['span'].side} side")
        for row in spans.rows
        if row["span"].side in SIDES
    )
    beyond = beyond_key(models)
    return (*of_spans, *((beyond,) if beyond else ()), *unmarked_keys(models, level))


def side_blocks(
    gaps: ReportTable, result: ModelGaps, side: str, options: GapOptions
) -> tuple[Block, ...]:
    """Return the figure of one side, and its groups in the order of their gaps."""
    own = [row for row in gaps.rows if row.gap.side == side and not row.gap.filler]
    of_groups = [row for row in own if row.gap.role == "group"]
    controls = [row for row in own if row.gap.role == "unmarked"]
    return (
        gap_figure(gaps, (result,), side, options, words=True),
        gaps.printed(
            f"{SIDES[side]}-sentiment false positive rates, the largest gap first.",
            rows=[*ranked(of_groups, lambda row: row.gap.gap.value), *controls],
            columns=(gaps.column("group_name"), *GROUP_COLUMNS),
        ),
    )


def word_blocks(gaps: ReportTable, side: str) -> tuple[Block, ...]:
    rows = [row for row in gaps.rows if row.gap.side == side and row.gap.filler]
    shown = ranked(rows, lambda row: row.gap.gap.value)

    def of(row: Any) -> str:
        return ROLE_NAMES[row.gap.role] or str(gaps.column("group_name").read(row))

    return (
        gaps.printed(
            f"{SIDES[side]}-sentiment gaps word by word, the largest first.",
            rows=shown,
            columns=("Word", Column("Group", value=of), "n", "fpr", "gap", "Adjusted"),
        ),
    )
