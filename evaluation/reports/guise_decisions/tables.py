"""The tables of the report on verdicts."""

from __future__ import annotations

import math
from collections.abc import Mapping

from evaluation.analyses.guise_decisions import DecisionAnalysis, DecisionTest
from evaluation.reports.parts.document import Block, KeyNumber
from evaluation.reports.parts.formatting import p_cell, p_value
from evaluation.reports.parts.table import Column, ReportTable

Varieties = tuple[str, ...]


def all_corrected(result: DecisionAnalysis) -> bool:
    """Return whether all three tests are corrected; in results of old only the paper's is."""
    return any(
        not math.isnan(p)
        for row in result.tests
        for p in (row.p_contingency_holm, row.p_mcnemar_holm)
    )


def p_of_pairs(row: DecisionTest) -> float:
    """Return McNemar's p after Holm's correction, as it is where that is not known."""
    return row.mcnemar.p_value if math.isnan(row.p_mcnemar_holm) else row.p_mcnemar_holm


def test_table(result: DecisionAnalysis, varieties: Varieties, level: str) -> ReportTable:
    first, second = varieties
    new = all_corrected(result)
    return ReportTable(
        "tests",
        "Rates of the detrimental outcome",
        result.tests,
        (
            Column("Model", "model"),
            Column("Outcome", "outcome"),
            Column(
                f"{first}, %", "first", decimals=1, scale=100, with_interval=True, prefix="first_"
            ),
            Column(
                f"{second}, %",
                "second",
                decimals=1,
                scale=100,
                with_interval=True,
                prefix="second_",
            ),
            Column(
                "Difference, points",
                "difference",
                decimals=1,
                scale=100,
                signed=True,
                with_interval=True,
                style="strong",
            ),
            Column("Decisions", "n", "first.n", 0, meaning="decisions after the first guise"),
            Column("Increase, %", "increase", decimals=0, scale=100, signed=True),
            Column("χ² (equal)", "chi2_equal", "equal.statistic", 2),
            Column("", "p_equal", "equal.p_value"),
            Column("p", "p_equal_holm", "p_holm", 3, cell=p_cell),
            Column("", "chi2_contingency", "contingency.statistic"),
            *(
                Column("" if new else head, name, path, 3, cell=p_cell)
                for head, name, path in (
                    ("p (2 × 2)", "p_contingency", "contingency.p_value"),
                    ("p (McNemar)", "p_mcnemar", "mcnemar.p_value"),
                )
            ),
            Column("", "n_discordant", "mcnemar.n"),
            Column("", "n_ties", meaning="decisions that are ties"),
            *(
                Column(head, name, decimals=3, cell=p_cell, meaning="Holm over models")
                for head, name in (
                    ("p (2 × 2)", "p_contingency_holm"),
                    ("p (McNemar)", "p_mcnemar_holm"),
                )
                if new
            ),
        ),
        level,
        reason=lambda row: row.equal.reason or row.mcnemar.reason,
    )


def rate_table(
    result: DecisionAnalysis, varieties: Varieties, wordings: Mapping[str, str]
) -> ReportTable:
    first, second = varieties
    return ReportTable(
        "rates",
        "Rates in every prompt and setting",
        result.rates,
        (
            Column("Model", "model"),
            Column("Outcome", "outcome"),
            Column("Setting", "setting"),
            Column("", "prompt"),
            Column("Prompt", "wording", lambda row: wordings.get(row.prompt, ""), wide=True),
            Column(f"{first}, %", "first", decimals=1, scale=100),
            Column(f"{second}, %", "second", decimals=1, scale=100),
            Column("", "n_first"),
            Column("", "n_second"),
            Column("Increase, %", "increase", decimals=0, scale=100, signed=True),
        ),
    )


def key_numbers(tests: ReportTable, varieties: Varieties) -> tuple[KeyNumber, ...]:
    return tuple(
        tests.key(
            "difference",
            row,
            f"{p_value(row.p_holm)} (paper), {p_value(p_of_pairs(row))} (McNemar)",
            label=f"{row.outcome}, {row.model}: {' − '.join(varieties)}",
            unit="points",
        )
        for row in tests.rows[:4]
    )


def test_blocks(
    tests: ReportTable, varieties: Varieties, *, all_corrected: bool
) -> tuple[Block, ...]:
    beside = (
        "beside it a 2 × 2 table and McNemar’s test of pairs, corrected alike."
        if all_corrected
        else "beside it a 2 × 2 table and McNemar’s test of pairs, not corrected."
    )
    first, second = varieties
    return (
        tests.figure(
            "difference",
            f"Rate after {first} minus rate after {second}; {tests.level} intervals over texts and "
            "prompts.",
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
            "Rates of the detrimental outcome. p: the paper’s test of equal counts with Holm’s "
            f"correction over models; {beside}"
        ),
    )


def rate_blocks(rates: ReportTable, left_out: ReportTable) -> tuple[Block, ...]:
    blocks = [rates.printed("Rates in every prompt, and the relative increase.")]
    if left_out.rows:
        blocks.append(
            left_out.printed(
                "The difference of both rates, and the paper’s test, with one prompt left out."
            )
        )
    return tuple(blocks)


def left_out_table(result: DecisionAnalysis, wordings: Mapping[str, str]) -> ReportTable:
    return ReportTable(
        "left_out_prompts",
        "Each prompt left out",
        result.left_out,
        (
            Column("Model", "model"),
            Column("Outcome", "outcome"),
            Column("", "prompt"),
            Column("Left out", "wording", lambda row: wordings.get(row.prompt, ""), wide=True),
            Column("Difference, points", "difference", decimals=1, scale=100, signed=True),
            Column("p (equal counts)", "p_equal", decimals=3, cell=p_cell),
        ),
    )
