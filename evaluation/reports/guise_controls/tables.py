"""The tables of the report on controls."""

from __future__ import annotations

from evaluation.analyses.guise_controls import CONTROL, MATCHED, ControlAnalysis
from evaluation.reports.parts.document import Block, KeyNumber
from evaluation.reports.parts.guise_tables import p_columns
from evaluation.reports.parts.table import Column, ReportTable, ranked

#: Attributes of each model whose adjusted effects are printed.
LARGEST = 8


def control_table(result: ControlAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "controls",
        "Strength after every guise",
        result.lines,
        Column("Model", "model"),
        Column("Guise", "guise"),
        Column("", "kind", meaning="subject, control, or matched pairs of the subject"),
        Column.effect("δ", "strength", decimals=3, unit="log ratio"),
        Column("Texts", "n_pairs", decimals=0),
        *p_columns(holm=False),
        Column.estimate(
            "Subject − it",
            "difference",
            decimals=3,
            prefix="difference_",
            signed=True,
            meaning="δ of the subject less δ of this guise",
        ),
        Column("τ", "tau", decimals=2, meaning="of its ranking with the subject’s"),
        Column("First five", "first", lambda row: ", ".join(row.first), wide=True),
        level=level,
        reason="strength.note",
    )


def null_table(result: ControlAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "placebos",
        "Strength between guises that are none",
        result.nulls,
        Column("Model", "model"),
        Column("Placebo", "placebo", "name"),
        Column("Mean", "mean", decimals=3, signed=True),
        Column("sd", "sd", decimals=3),
        Column(f"{level} from", "low", decimals=3, signed=True),
        Column("to", "high", decimals=3, signed=True),
        Column("Draws", "n", decimals=0),
    )


def adjusted_table(result: ControlAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "adjusted",
        "Effects adjusted for what else differs",
        result.adjusted,
        Column("Model", "model"),
        Column("Attribute or δ", "name"),
        Column("As it is", "plain", decimals=4, signed=True),
        Column.effect("Adjusted", "adjusted", "adjusted.estimate", 4, unit="log ratio"),
        Column("t", "t", "adjusted.statistic", 2),
        Column.p("p", "p", "adjusted.p_value"),
        Column("Pairs", "n_pairs", "adjusted.estimate.n", 0),
        Column.p(
            "p (Holm)", "p_holm", meaning="corrected over the attributes of a model, δ by itself"
        ),
        level=level,
        reason="adjusted.estimate.note",
    )


def key_numbers(controls: ReportTable) -> tuple[KeyNumber, ...]:
    found: list[KeyNumber] = []
    for row in controls.rows:
        if row.kind == MATCHED or len(found) == 4:
            continue
        label = "" if row.kind == CONTROL else ", the subject"
        found.append(
            controls.key("strength", row, label=f"δ after {row.guise}{label}, {row.model}")
        )
    return tuple(found)


def control_blocks(controls: ReportTable) -> tuple[Block, ...]:
    return (
        controls.figure(
            "controls",
            f"Strength after every guise, with {controls.level} intervals.",
            "strength",
            label="guise",
            panel="model",
            bold=lambda row: row.kind == "subject",
            tone=lambda row: "ink" if row.kind == CONTROL else "model",
            axis="δ, log ratio",
            n="texts",
        ),
        controls.printed(
            "Strength after the subject, after the controls, and over pairs of the subject that "
            "are alike in length or perplexity."
        ),
    )


def adjusted_blocks(adjusted: ReportTable, result: ControlAnalysis) -> tuple[Block, ...]:
    rows = []
    for model in dict.fromkeys(row.model for row in adjusted.rows):
        delta, *attributes = [row for row in adjusted.rows if row.model == model]
        rows += [delta, *ranked(attributes, lambda row: abs(row.plain))[:LARGEST]]
    return adjusted.printed_if_any(
        f"δ and the {LARGEST} largest effects as they are, and where the texts of a pair do "
        f"not differ in {' and '.join(result.held)}; the download has every attribute. "
        "p (Holm) is corrected over all attributes of a model.",
        rows=rows,
    )
