"""The tables of the report on occupations."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.guise_occupations import OccupationAnalysis
from evaluation.reports.parts.document import Block, KeyNumber
from evaluation.reports.parts.formatting import MISSING, count, number, p_value
from evaluation.reports.parts.guise_tables import p_columns
from evaluation.reports.parts.table import Column, ReportTable, downloaded

#: Occupations of either end of a ranking that are drawn.
ENDS = 10
MODEL = (Column("Model", "model"), Column("", "probe"))


def score_table(result: OccupationAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "occupations",
        "Association scores of occupations",
        result.scores,
        *MODEL,
        Column("Rank", "rank", decimals=0),
        Column("Occupation", "occupation", "attribute"),
        Column.effect(
            "q",
            "q",
            "estimate",
            4,
            meaning="association score, mean over prompts whose article agrees",
            unit="log ratio",
        ),
        Column("Prompts", "n_prompts", "estimate.n", 0),
        Column("Prestige", "prestige", lambda row: result.prestige.get(row.attribute), 2),
        *p_columns(),
        Column("", "reason", lambda row: row.estimate.reason or row.why_no_p),
        level=level,
    )


def test_table(result: OccupationAnalysis) -> ReportTable:
    return ReportTable.of(
        "tests",
        "Occupations as a whole",
        result.tests,
        *MODEL,
        Column("Mean q", "mean", "test.mean", 4, signed=True, style="strong"),
        Column("sd", "sd", "test.sd", 4, meaning="over occupations, ddof 1"),
        Column("Occupations", "n", "test.n", 0),
        Column("t", "t", "test.statistic", 2),
        Column("", "df", "test.df"),
        Column.p("p (below 0)", "p_one_sided", "test.p_value"),
        Column.p("Holm", "p_holm"),
        Column.p(
            "p (two-sided)",
            "p_two_sided",
            "test.p_two_sided",
            meaning="as the released code calls it",
        ),
        reason="test.reason",
    )


def prestige_table(result: OccupationAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "prestige",
        "Prestige on association scores",
        result.lines,
        *MODEL,
        Column("Slope", "slope", "fit.slope", 2, signed=True, style="strong"),
        Column("", "low", "fit.low", meaning=f"lower end of its {level} interval"),
        Column("", "high", "fit.high", meaning=f"upper end of its {level} interval"),
        Column("Intercept", "intercept", "fit.intercept", 2),
        Column("R²", "r_squared", "fit.r_squared", 3),
        Column("F", "f", "fit.statistic", 2),
        Column("df", "df", "fit.df", 0),
        Column.p("p", "p", "fit.p_value"),
        Column("Occupations", "n", "fit.n", 0),
        level=level,
        reason="fit.reason",
    )


def band_table(result: OccupationAnalysis) -> ReportTable:
    rows = [
        {"line": line, "q": q, "fitted": fitted, "low": low, "high": high}
        for line in result.lines
        for q, fitted, low, high in zip(
            line.fit.x, line.fit.fitted, line.fit.band_low, line.fit.band_high, strict=True
        )
    ]
    return ReportTable.of(
        "prestige_line",
        "The line of prestige with its band",
        rows,
        Column("", "model", "line.model"),
        *downloaded("q", "fitted", "low", "high"),
    )


def inference_table(result: OccupationAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "inference",
        "What holds for other texts and prompts",
        result.inference,
        *MODEL,
        Column("Quantity", "quantity", "name"),
        Column.effect("Value", "value", "estimate", 4, meaning="interval over texts and prompts"),
        Column("Occupations", "n", "estimate.n", 0),
        Column.p("p", "p", "p_value", meaning="two-sided, from the interval’s resamples"),
        Column.p("p (paper)", "p_paper"),
        Column(
            "Agree",
            "agree",
            lambda row: not row.disagree,
            cell=lambda agree: "yes" if agree else "no",
            meaning="whether the paper’s test and the interval find the same, at its level",
        ),
        level=level,
        reason="estimate.note",
    )


def key_numbers(tests: ReportTable, lines: ReportTable) -> tuple[KeyNumber, ...]:
    found = [
        KeyNumber(
            f"Mean q, {row.model}",
            number(row.test.mean, 4, signed=True),
            lines=(
                f"{p_value(row.test.p_value)} below 0, {p_value(row.test.p_two_sided)} two-sided",
                count(row.test.n, "occupation"),
            ),
        )
        for row in tests.rows[:3]
    ]
    found += [
        KeyNumber(
            f"Prestige per unit of q, {row.model}",
            number(row.fit.slope, 2, signed=True) if not row.fit.reason else MISSING,
            lines=(p_value(row.fit.p_value), count(row.fit.n, "occupation")),
        )
        for row in lines.rows[:3]
    ]
    return tuple(found)


def test_blocks(
    tests: ReportTable, lines: ReportTable, inference: ReportTable
) -> tuple[Block, ...]:
    return (
        tests.printed("The mean score of all occupations against zero."),
        *lines.printed_if_any(
            "Regression of prestige on q: below zero, occupations that go with the first variety "
            "are less reputed."
        ),
        *inference.printed_if_any(
            "Both quantities with intervals that resample texts and prompts, beside the paper’s "
            "test, which takes occupations for independent samples."
        ),
    )


def score_blocks(scores: ReportTable, result: OccupationAnalysis) -> tuple[Block, ...]:
    drawn: list[Any] = []
    printed: list[Any] = []
    for key in result.models:
        rows = sorted(
            (row for row in scores.rows if (row.model, row.probe) == key),
            key=lambda row: (row.rank is None, row.rank or 0),
        )
        printed += rows
        drawn += [row for row in (*rows[:ENDS], *rows[ENDS:][-ENDS:]) if row.rank is not None]
    return (
        scores.figure(
            "occupations",
            f"Occupations at both ends of every ranking; {scores.level} intervals.",
            "q",
            label="occupation",
            rows=drawn,
            panel="model",
            axis="q, log ratio",
            n="prompts",
            left="← second variety",
            right="first variety →",
        ),
        scores.printed("Every occupation, the highest first.", rows=printed),
    )
