"""Guises and occupations: which jobs models match with which guise, and their prestige."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_draws import Matching
from evaluation.analyses.guise_occupations import (
    OccupationAnalysis,
    OccupationInference,
    OccupationTest,
    PrestigeLine,
    analyze_occupations,
)
from evaluation.metrics.prestige import Rule
from evaluation.models import NormKind, Report
from evaluation.reports.parts.document import Block, Document, KeyNumber, Section
from evaluation.reports.parts.formatting import (
    MISSING,
    count,
    listing,
    number,
    p_value,
    percent,
)
from evaluation.reports.parts.guise_inputs import common_attributes, load_guise_run
from evaluation.reports.parts.guise_kind import GuiseKind, first_norm, gather, guise_runs
from evaluation.reports.parts.guise_tables import (
    FEW_PROMPTS,
    METHOD_CROSSED,
    METHOD_OVER_TEXTS,
    WHY_CROSSED,
    crossed_table,
    disagreement,
    p_columns,
)
from evaluation.reports.parts.kind import Chosen, Loaded
from evaluation.reports.parts.options import IntervalParameters
from evaluation.reports.parts.table import Column, ReportTable, shown
from probing.measures.guise_library import OCCUPATIONS

# --- The words of the report on occupations -------------------------------------------------------

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Mean q, …": (
        "The mean association score of all occupations. Below 0, having any of these "
        "occupations goes with the second guise."
    ),
    "Prestige per unit of q, …": (
        "How much more reputed an occupation is where its score is higher by one. Above 0, "
        "the model gives the more reputed occupations to the first guise."
    ),
}


WHY = (
    "Below zero on the whole, a model finds any occupation less likely after the first variety; a "
    "falling line says that it matches the first variety with less reputed ones."
)
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety, or about hiring.",
    "The tests take occupations for independent samples, which they are not: scores of one model "
    "rest on the same texts and prompts.",
    "Prestige is what a survey of one country and year found; titles are matched by their words.",
    FEW_PROMPTS,
)


def question(result: OccupationAnalysis, record: dict[str, Any]) -> str:
    first, second = record["runs"][0]["varieties"]
    n = len({row.attribute for row in result.scores})
    return (
        f"After a text in {first} rather than in {second}, which of {count(n, 'occupation')} does "
        "a model find likelier for its author, and are these less reputed?"
    )


def disagreements(result: OccupationAnalysis) -> tuple[str, ...]:
    """Return where the paper's tests and those over texts and prompts disagree."""
    return disagreement(
        "The paper’s test, which takes occupations for independent samples, and the test over "
        "texts and prompts disagree",
        [
            f"{row.model} ({row.probe}), {row.name}: {p_value(row.p_paper)} against "
            f"{p_value(row.p_value)}"
            for row in result.inference
            if row.disagree
        ],
    )


def method(result: OccupationAnalysis, record: dict[str, Any]) -> tuple[str, ...]:
    rule = (
        "whole words"
        if result.rule == "words"
        else "any letters at either end, as in the released code"
    )
    found = [
        "Matched guise probing after Hofmann, Kalluri, Jurafsky and King (2024). An occupation "
        "counts in prompts whose last word, a or an, agrees with it. Its score is the mean over "
        "these prompts; the mean of all occupations is tested against zero (t-test, one-sided as "
        "the paper says; the released code tests two-sided).",
        f"{METHOD_OVER_TEXTS} A wording with a and with an counts as one prompt. The slope has a p "
        "alone, that of the ratings’ covariance with the scores.",
    ]
    if result.lines:
        titles = listing([norm["title"] for norm in record["norms"]])
        found.append(
            f"Prestige: {titles}. An occupation has the mean of all titles that start or end with "
            f"it ({rule}). Least squares of prestige on the score, with an F-test."
        )
    if result.crossed:
        found.append(METHOD_CROSSED)
    return tuple(found)


def left_out(result: OccupationAnalysis) -> tuple[str, ...]:
    unrated = sorted({row.attribute for row in result.scores} - set(result.prestige))
    if not result.lines or not unrated:
        return ()
    return (
        f"{count(len(unrated), 'occupation')} without a survey title in the regression: "
        f"{', '.join(unrated)}.",
    )


# --- The tables of the report on occupations ------------------------------------------------------

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
    return ReportTable.of_rows(
        "tests",
        "Occupations as a whole",
        result.tests,
        OccupationTest,
        *MODEL,
        *("test.mean", "test.sd", "test.n", "test.statistic", "test.df"),
        *("test.p_value", "p_holm", "test.p_two_sided"),
        labels={"quantity": "q", "units": "occupations", "Units": "Occupations"},
        reason="test.reason",
    )


def prestige_table(result: OccupationAnalysis, level: str) -> ReportTable:
    return ReportTable.of_rows(
        "prestige",
        "Prestige on association scores",
        result.lines,
        PrestigeLine,
        *MODEL,
        *("fit.slope", "fit.low", "fit.high", "fit.intercept", "fit.r_squared"),
        *("fit.statistic", "fit.df", "fit.p_value", "fit.n"),
        labels={"level": level},
        level=level,
        reason="fit.reason",
    )


@dataclass(frozen=True)
class BandPoint:
    """A point of a line with its band."""

    model: str
    q: float
    fitted: float
    low: float
    high: float


def band_table(result: OccupationAnalysis) -> ReportTable:
    points = [
        BandPoint(line.model, *point)
        for line in result.lines
        for point in zip(
            line.fit.x, line.fit.fitted, line.fit.band_low, line.fit.band_high, strict=True
        )
    ]
    title = "The paper’s line of prestige with its band"
    columns = ("model", "q", "fitted", "low", "high")
    return ReportTable.of_rows("prestige_line", title, points, BandPoint, *columns)


def inference_table(result: OccupationAnalysis, level: str) -> ReportTable:
    return ReportTable.of(
        "inference",
        "What holds for other texts and prompts",
        result.inference,
        *MODEL,
        *shown(OccupationInference, "name", "estimate", "p_value", "p_paper"),
        Column(
            "Agree",
            "agree",
            lambda row: not row.disagree,
            cell=lambda agree: "yes" if agree else "no",
            meaning="whether the paper’s test and p find the same, at the level of intervals",
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
            "The paper’s regression of prestige on q, which takes occupations for independent: "
            "below zero, occupations that go with the first variety are less reputed."
        ),
        *inference.printed_if_any(
            "Both quantities over texts and prompts, beside the paper’s test, which takes "
            "occupations for independent samples."
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


class GuiseOccupationParameters(IntervalParameters):
    """The options of a report on occupations."""

    matching: Matching = Field(
        "meaning_matched",
        title="Comparison of texts",
        description="How texts are compared: pair by pair, or the sets as a whole.",
    )
    prestige: str | None = Field(
        None,
        title="Norm of prestige",
        description="Norm of prestige; without one, the first that is stored.",
    )
    rule: Rule = Field(
        "words",
        title="Matching of titles",
        description="Which survey titles an occupation takes: those that start or end with its "
        "word (words), or with its letters, as the released code (released).",
    )


class GuiseOccupations(GuiseKind[OccupationAnalysis]):
    name = "guise_occupations"
    title = _("Guises and occupations")
    question = _("Which occupations do models match with speakers of a variety, and how reputed?")
    meanings = MEANINGS
    Parameters = GuiseOccupationParameters
    Result = OccupationAnalysis
    asks = "Which occupations does {models} match with a guise?"
    purposes = (OCCUPATIONS,)
    remedy = "Choose runs with prompts on occupations."
    norms = {"prestige": NormKind.PRESTIGE}
    runs = guise_runs(
        _("Runs of matched guise probing with prompts on occupations and one list of them.")
    )

    def load(self, chosen: Chosen, parameters: GuiseOccupationParameters) -> Loaded:
        """Two queries a run, and one for the norm."""
        loaded = [load_guise_run(run, run.model.name) for run in chosen.runs]
        occupations = common_attributes(loaded)
        norms = first_norm(NormKind.PRESTIGE, parameters.prestige)
        data = ([one.run for one in loaded], occupations, norms[0].values if norms else {})
        return gather(chosen, loaded, norms, data)

    def analyze(self, loaded: Loaded, parameters: GuiseOccupationParameters) -> OccupationAnalysis:
        options = GuiseOptions(matching=parameters.matching, **parameters.bootstrap)
        runs, occupations, titles = loaded.data
        return analyze_occupations(runs, occupations, titles, options, rule=parameters.rule)

    def lay_out(
        self, report: Report, result: OccupationAnalysis, view: Mapping[str, str]
    ) -> Document:
        record: dict[str, Any] = report.inputs
        level = percent(result.options.level)
        scores = score_table(result, level)
        tests = test_table(result)
        lines = prestige_table(result, level)
        bands = band_table(result)
        inference = inference_table(result, level)
        crossed = crossed_table(result.crossed, level, name="Occupation")
        return Document(
            question=question(result, record),
            banners=disagreements(result),
            keys=key_numbers(tests, lines),
            sections=(
                Section(
                    "All occupations together",
                    test_blocks(tests, lines, inference),
                    WHY,
                ),
                Section("Every occupation", score_blocks(scores, result)),
                Section(
                    "What the wording does",
                    crossed.printed_if_any("Every occupation, with what single values vary with."),
                    WHY_CROSSED,
                ),
            ),
            tables=(
                scores,
                tests,
                lines,
                bands,
                *(table for table in (inference, crossed) if table.rows),
            ),
            method=method(result, record),
            caveats=CAVEATS,
            left_out=left_out(result),
        )

    def headline(self, result: dict[str, Any]) -> str:
        means = [row["test"]["mean"] for row in result["tests"]]
        return f"mean q {number(means[0], 3, signed=True)}" if means else MISSING
