"""The tables of the report on verdicts."""

from __future__ import annotations

from collections.abc import Mapping

from evaluation.analyses.guise_decisions import DecisionAnalysis
from evaluation.reports.parts.document import Block, KeyNumber
from evaluation.reports.parts.formatting import p_value
from evaluation.reports.parts.guise_tables import p_columns
from evaluation.reports.parts.table import Column, ReportTable, downloaded

Varieties = tuple[str, ...]


def test_table(result: DecisionAnalysis, varieties: Varieties, level: str) -> ReportTable:
    first, second = varieties
    return ReportTable.of(
        "tests",
        "Rates of the detrimental outcome",
        result.tests,
        Column("Model", "model"),
        Column("Outcome", "outcome"),
        Column.estimate(f"{first}, %", "first", decimals=1, scale=100, prefix="first_"),
        Column.estimate(f"{second}, %", "second", decimals=1, scale=100, prefix="second_"),
        Column.effect("Difference, points", "difference", decimals=1, scale=100),
        *p_columns(value="p_difference", holm=False),
        Column("Decisions", "n", "first.n", 0, meaning="decisions after the first guise"),
        Column("Increase, %", "increase", decimals=0, scale=100, signed=True),
        Column("χ² (equal)", "chi2_equal", "equal.statistic", 2),
        Column("", "p_equal", "equal.p_value"),
        Column.p("p (paper)", "p_equal_holm", "p_holm"),
        Column("", "chi2_contingency", "contingency.statistic"),
        Column("", "p_contingency", "contingency.p_value"),
        Column("", "p_mcnemar", "mcnemar.p_value"),
        Column("", "n_discordant", "mcnemar.n"),
        Column("", "n_ties", meaning="decisions that are ties"),
        Column.p("p (2 × 2)", "p_contingency_holm", meaning="Holm over models"),
        Column.p("p (McNemar)", "p_mcnemar_holm", meaning="Holm over models"),
        level=level,
        reason=lambda row: row.equal.reason or row.mcnemar.reason,
    )


def rate_table(
    result: DecisionAnalysis, varieties: Varieties, wordings: Mapping[str, str]
) -> ReportTable:
    first, second = varieties
    return ReportTable.of(
        "rates",
        "Rates in every prompt and setting",
        result.rates,
        Column("Model", "model"),
        Column("Outcome", "outcome"),
        Column("Setting", "setting"),
        Column("", "prompt"),
        Column("Prompt", "wording", lambda row: wordings.get(row.prompt, ""), wide=True),
        Column(f"{first}, %", "first", decimals=1, scale=100),
        Column(f"{second}, %", "second", decimals=1, scale=100),
        *downloaded("n_first", "n_second"),
        Column("Increase, %", "increase", decimals=0, scale=100, signed=True),
    )


def key_numbers(tests: ReportTable, varieties: Varieties) -> tuple[KeyNumber, ...]:
    return tuple(
        tests.key(
            "difference",
            row,
            f"{p_value(row.p_holm)} (paper), {p_value(row.p_mcnemar_holm)} (McNemar)",
            *([f"{p_value(row.p_difference)} ({row.question})"] if row.question else []),
            label=f"{row.outcome}, {row.model}: {' − '.join(varieties)}",
            unit="points",
        )
        for row in tests.rows[:4]
    )


def test_blocks(tests: ReportTable, varieties: Varieties) -> tuple[Block, ...]:
    first, second = varieties
    return (
        tests.figure(
            "difference",
            f"Rate after {first} minus rate after {second}; {tests.level} intervals.",
            "difference",
            label="model",
            panel="outcome",
            title="Difference of the rates",
            axis="percentage points",
            value="Points",
            n="decisions",
            left=f"← harsher to {second}",
            right=f"harsher to {first} →",
        ),
        tests.printed(
            "Rates of the detrimental outcome. p (paper): the paper’s test of equal counts with "
            "Holm’s correction over models; beside it a 2 × 2 table and McNemar’s test of pairs, "
            "corrected alike."
        ),
    )


def rate_blocks(rates: ReportTable, left_out: ReportTable) -> tuple[Block, ...]:
    return (
        rates.printed("Rates in every prompt, and the relative increase."),
        *left_out.printed_if_any(
            "The difference of both rates, and the paper’s test, with one prompt left out."
        ),
    )


def left_out_table(result: DecisionAnalysis, wordings: Mapping[str, str]) -> ReportTable:
    return ReportTable.of(
        "left_out_prompts",
        "Each prompt left out",
        result.left_out,
        Column("Model", "model"),
        Column("Outcome", "outcome"),
        Column("", "prompt"),
        Column("Left out", "wording", lambda row: wordings.get(row.prompt, ""), wide=True),
        Column("Difference, points", "difference", decimals=1, scale=100, signed=True),
        Column.p("p (equal counts)", "p_equal"),
    )
