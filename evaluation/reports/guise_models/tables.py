"""The tables of the report on models: Fig. 4 and Extended Data Tables 7 and 8."""

from __future__ import annotations

from evaluation.analyses.guise_models import ModelAnalysis, SizeLine
from evaluation.reports.parts.document import Block, KeyNumber
from evaluation.reports.parts.formatting import MISSING, p_value
from evaluation.reports.parts.table import Column, ReportTable

PROBES = ("covert", "overt")


def model_table(result: ModelAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "models",
        "Strength of every model",
        sorted(result.models, key=lambda row: (row.probe, row.parameters or 0)),
        Column("Model", "model"),
        Column("Probe", "probe"),
        Column("Parameters", "parameters", cell=lambda value: f"{value:,}"),
        Column("Size", "size", lambda row: row.size or None, missing="not known"),
        Column.effect("δ", "strength", decimals=3),
        Column("Prompts", "n_prompts", "strength.n", 0),
        level=level,
        reason="strength.note",
    )


def size_table(result: ModelAnalysis) -> ReportTable:
    return ReportTable.of(
        "sizes",
        "Strength and perplexity by size",
        result.sizes,
        Column("Quantity", "quantity", _quantity),
        Column("Variety", "variety", lambda row: row.variety or None),
        Column("Size", "size", _size),
        Column.estimate("Mean", "mean", decimals=3, style="strong"),
        Column("sd", "sd", decimals=3, meaning="ddof 1"),
        Column("n", "n", "mean.n", 0),
        Column("Models", "models", lambda row: ", ".join(row.models), wide=True),
        level="standard error",
    )


def trend_table(result: ModelAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "trends",
        "Change of the strength with ten times the parameters",
        result.trends,
        Column("Probe", "probe"),
        Column.effect("Change of δ", "slope", decimals=3),
        Column("Models", "n_models", "slope.n", 0),
        level=level,
        reason="slope.note",
    )


def feedback_table(result: ModelAnalysis, level: str) -> ReportTable:
    spread = "over prompts, ddof 1"
    return ReportTable.of(
        "feedback",
        "Human feedback",
        result.feedback,
        Column("Probe", "probe"),
        Column("Quantity", "quantity"),
        Column("Without", "without", decimals=3, signed=True),
        Column("s", "sd_without", decimals=3, meaning=spread),
        Column("With", "with", "with_it", 3, signed=True),
        Column("s", "sd_with", decimals=3, meaning=spread),
        Column.effect("With − without", "difference", decimals=3),
        Column("t", "t", decimals=2),
        Column("df", "df", decimals=0),
        Column.p("p (paper)", "p", "p_value"),
        Column("Prompts", "n_prompts", "difference.n", 0),
        level=level,
        reason="reason",
    )


def key_numbers(trends: ReportTable, feedback: ReportTable) -> tuple[KeyNumber, ...]:
    found = [
        trends.key("slope", row, label=f"Ten times the parameters: δ, {row.probe}")
        for row in trends.rows
    ]
    found += [
        feedback.key(
            "difference",
            row,
            f"{p_value(row.p_value)} (paper)",
            label=f"With human feedback: {row.quantity}, {row.probe}",
        )
        for row in feedback.rows
    ]
    return tuple(found[:6])


def size_blocks(sizes: ReportTable) -> tuple[Block, ...]:
    """The strengths of Fig. 4a, then the perplexities; the latter only where there are some."""
    strengths = [row for row in sizes.rows if row.quantity in PROBES]
    familiar = [row for row in sizes.rows if row.quantity not in PROBES]
    found: list[Block] = []
    if strengths:
        found.append(
            sizes.figure(
                "strength-by-size",
                "Strength by size of the model; bars are one standard error over models, settings "
                "and prompts, whose number is n.",
                "mean",
                rows=strengths,
                label=_size,
                panel=_quantity,
                tone=lambda row: "model" if row.quantity == "covert" else "ink",
                title="Strength by size",
                axis="δ, log ratio",
                value="δ",
                n="cells",
            )
        )
    if familiar:
        found.append(
            sizes.figure(
                "perplexity-by-size",
                "Perplexity of the texts by size of the model; bars are one standard error over "
                "models and texts, whose number is n.",
                "mean",
                rows=familiar,
                label=_size,
                panel=lambda row: f"{row.variety}, {row.quantity}",
                reference=None,
                title="Perplexity by size",
                axis="perplexity",
                value="mean",
                n="texts",
            )
        )
    return (*found, sizes.printed("Strength and perplexity by size."))


def model_blocks(models: ReportTable, trends: ReportTable) -> tuple[Block, ...]:
    return (
        models.figure(
            "models",
            f"Strength of every model, the smallest first; {models.level} intervals over texts "
            "and prompts.",
            "strength",
            label="model",
            panel="probe",
            tone=lambda row: "model" if row.probe == "covert" else "ink",
            axis="δ, log ratio",
            n="prompts",
        ),
        models.printed("Strength of every model, the smallest first."),
        trends.printed(
            "Change of δ with ten times the parameters, over these models; intervals are over "
            "texts and prompts, not over other models."
        ),
    )


def feedback_blocks(feedback: ReportTable) -> tuple[Block, ...]:
    return feedback.printed_if_any(
        "Strength, and favourability of the first five, without and with human feedback. p "
        "(paper): t-test over prompts, two-sided, not corrected, with t of without − with; s "
        "is over prompts with ddof 1; intervals resample texts and prompts."
    )


def _quantity(row: SizeLine) -> str:
    return f"δ, {row.quantity}" if row.quantity in PROBES else row.quantity


def _size(row: SizeLine) -> str:
    return row.size or MISSING
