"""The tables of the report on intelligence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evaluation.analyses.guise_inference import CrossedLine
from evaluation.analyses.guise_intelligence import ADJECTIVES, IQ, IntelligenceAnalysis
from evaluation.reports.parts.document import Block, KeyNumber
from evaluation.reports.parts.formatting import p_value
from evaluation.reports.parts.guise_tables import crossed_table
from evaluation.reports.parts.table import Column, ReportTable


def effect_table(result: IntelligenceAnalysis, level: str) -> ReportTable:
    table = crossed_table(
        result.lines, level, effect="Difference", part="Asked by", name="Quantity", decimals=3
    )
    return replace(table, name="intelligence", title="Intelligence after either guise")


def attribute_table(rows: Sequence[CrossedLine], level: str) -> ReportTable:
    return crossed_table(rows, level, part="Asked by")


def share_table(
    result: IntelligenceAnalysis, varieties: Sequence[str], wordings: Mapping[str, str]
) -> ReportTable:
    first, second = varieties
    high = result.values[0] if result.values else ""
    return ReportTable.of(
        "shares",
        "Share on the higher IQ in every prompt",
        result.shares,
        Column("Model", "model"),
        Column("Setting", "setting"),
        Column("", "prompt"),
        Column("Prompt", "wording", lambda row: wordings.get(row.prompt, ""), wide=True),
        Column(f"{high} after {first}, %", "first", decimals=1, scale=100),
        Column(f"after {second}, %", "second", decimals=1, scale=100),
        Column("Texts", "n", decimals=0),
    )


def key_numbers(effects: ReportTable) -> tuple[KeyNumber, ...]:
    return tuple(
        effects.key(
            "effect",
            row,
            f"{p_value(row.p_value)} ({row.question}), {p_value(row.p_holm)} (Holm)",
            label=f"{row.part}, {row.model}: {row.name}",
        )
        for row in effects.rows[:4]
    )


def effect_blocks(effects: ReportTable, varieties: Sequence[str]) -> tuple[Block, ...]:
    first, second = varieties
    found: list[Block] = [
        effects.figure(
            name,
            f"{what} after {first} less after {second}; {effects.level} intervals.",
            "effect",
            rows=rows,
            label="model",
            title=title,
            axis=axis,
            value="difference",
            n="texts",
            left=f"← {first} less intelligent",
            right="more →",
        )
        for name, part, what, title, axis in (
            (
                "adjectives",
                ADJECTIVES,
                "q of high less q of low adjectives",
                "Adjectives on intelligence",
                "log ratio",
            ),
            ("iq", IQ, "Share of the mass on the higher IQ", "IQ", "share"),
        )
        if (rows := [row for row in effects.rows if row.part == part])
    ]
    return (
        *found,
        effects.printed("Intelligence after either guise."),
    )
