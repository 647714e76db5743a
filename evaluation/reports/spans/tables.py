"""The tables of the span report: Table 11 and Figure 7 of Deas et al. (2023)."""

from __future__ import annotations

import math
from typing import Any

from evaluation.analyses.span_analysis import SpanResult
from evaluation.reports.parts.document import Figure, KeyNumber, Table
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.table import Column, ReportTable, downloaded, estimate_columns, pivot

PERPLEXITY, ENTROPY = "span_perplexity", "top5_entropy"
NAMES = {PERPLEXITY: "Perplexity of the hidden span", ENTROPY: "Entropy of the five likeliest"}
CONDITIONS = {
    "random": "any words",
    "noun_phrase": "noun phrases",
    "verb_phrase": "verb phrases",
    "given": "marked spans",
}


def quantity_of(row: Any) -> str:
    return NAMES.get(row.name, row.name.replace("_", " "))


def condition_of(row: Any) -> str:
    return CONDITIONS.get(row.condition, row.condition.replace("_", " "))


def value_table(result: SpanResult, level: str) -> ReportTable:
    return ReportTable.of(
        "values",
        "Means over trials in either variety",
        result.cells,
        *downloaded("model", "name", "condition", "variety"),
        *estimate_columns("Mean", 2, units="Texts"),
        Column("sd of trials", "sd", decimals=2),
        Column("", "n_trials", lambda cell: len(cell.trial_means)),
        Column("", "n_left_out"),
        level=level,
    )


def change_table(result: SpanResult, level: str) -> ReportTable:
    source, target = result.options.source_variety, result.options.target_variety
    return ReportTable.of(
        "changes",
        f"Percent change from {source} to {target}",
        result.changes,
        Column("Model", "model"),
        *downloaded("name", "condition"),
        Column("Hidden", value=condition_of),
        Column("Value", value=quantity_of),
        *estimate_columns("Change, %", 1, units="Pairs", signed=True, style="strong"),
        Column("", "n_left_out"),
        level=level,
        note="estimate.note",
    )


def trial_table(result: SpanResult) -> ReportTable:
    columns = ("model", "name", "condition", "variety")
    return ReportTable.of(
        "trials",
        "Means over texts in each trial",
        [
            {"cell": cell, "trial": trial, "mean": mean}
            for cell in result.cells
            for trial, mean in enumerate(cell.trial_means)
        ],
        *(Column("", name, f"cell.{name}") for name in columns),
        *downloaded("trial", "mean"),
    )


def key_numbers(changes: ReportTable) -> tuple[KeyNumber, ...]:
    shown = [change for change in changes.rows if change.name == PERPLEXITY][:4]
    return tuple(
        changes.key(
            "value",
            change,
            count(change.estimate.n, "pair"),
            label=f"Perplexity, {change.model}, {condition_of(change)}",
            unit="%",
        )
        for change in shown
    )


def change_blocks(changes: ReportTable, result: SpanResult) -> tuple[Figure, Table]:
    source, target = result.options.source_variety, result.options.target_variety
    return (
        changes.figure(
            "changes",
            f"{changes.title}. Intervals: {result.options.n_resamples} resamples of pairs with all "
            "their trials; n is the number of pairs.",
            "value",
            label=lambda change: f"{change.model}, {condition_of(change)}",
            panel=quantity_of,
            decimals=1,
            axis=f"100 ({target} − {source}) / {source}, %",
            value="%",
            left=f"← easier in {target}",
            right=f"easier in {source} →",
        ),
        changes.printed("Percent change, negative where the target variety has the lower value."),
    )


def narrow_values(values: ReportTable, result: SpanResult, name: str) -> Table:
    """Return one quantity with both varieties side by side."""
    varieties = (result.options.source_variety, result.options.target_variety)
    cells = [cell for cell in result.cells if cell.name == name]
    return values.printed(
        f"{NAMES[name]}: means over texts, then over trials.",
        rows=pivot(cells, lambda cell: (cell.model, cell.condition), "variety"),
        columns=(
            Column("Model", value="first.model"),
            Column("Hidden", value=lambda row: condition_of(row.first)),
            *(
                column
                for variety in varieties
                for column in values.side_by_side(
                    variety, ("value", "sd", TRIALS, "n"), interval_head="interval"
                )
            ),
        ),
        note="",
    )


TRIALS = Column(
    "Trials", value=lambda cell: sum(not math.isnan(mean) for mean in cell.trial_means), decimals=0
)
