"""The words of the report on occupations."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.guise_occupations import OccupationAnalysis
from evaluation.reports.parts.formatting import count, interval, listing, p_value
from evaluation.reports.parts.guise_tables import (
    FEW_PROMPTS,
    METHOD_CROSSED,
    disagreement,
)

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
    """Return where the paper's tests and intervals over texts and prompts disagree."""
    return disagreement(
        "The paper’s test, which takes occupations for independent samples, and the interval over "
        "texts and prompts disagree",
        [
            f"{row.model} ({row.probe}), {row.name}: {p_value(row.p_paper)} against an interval of "
            f"{interval(row.estimate.low, row.estimate.high, 3, signed=True)}"
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
    options = result.options
    found = [
        "Matched guise probing after Hofmann, Kalluri, Jurafsky and King (2024). An occupation "
        "counts in prompts whose last word, a or an, agrees with it. Its score is the mean over "
        "these prompts; the mean of all occupations is tested against zero (t-test, one-sided as "
        "the paper says; the released code tests two-sided).",
        "Intervals of the whole take "
        f"{options.n_resamples:,} resamples of texts and prompts (bias-corrected percentile).",
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
