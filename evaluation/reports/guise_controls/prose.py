"""The words of the report on controls."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.guise_controls import CONTROL, ControlAnalysis
from evaluation.reports.parts.formatting import listing, number
from evaluation.reports.parts.guise_tables import FEW_PROMPTS, METHOD_CROSSED
from evaluation.reports.parts.meanings import DELTA

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "δ after …": DELTA,
}


WHY = (
    "If any deviation from the second variety did it, other varieties and noise would evoke the "
    "same stereotype. Of the differences, those whose interval keeps off zero tell guises apart."
)
NULLS = "Strength between guises that are none: what chance does."
WHY_NULLS = (
    "Guises that are none: the texts of every pair exchanged at random, and random halves of the "
    "second variety, whose scatter is brought to that of whole sets."
)
WHY_ADJUSTED = (
    "Texts of a pair may differ in length, and in how familiar a model is with them. A regression "
    "says what is left where they do not; it supposes straight lines."
)
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety.",
    "A control rules out what it differs in, and nothing else.",
    "Perplexity is itself a response to the variety: what is adjusted for it may be part of the "
    "effect.",
    FEW_PROMPTS,
)


def question(result: ControlAnalysis, record: dict[str, Any]) -> str:
    others = list(dict.fromkeys(row.guise for row in result.lines if row.kind == CONTROL))
    beside = f" rather than of {listing(others)}" if others else ""
    return (
        f"Is the stereotype of {record['study']['title']} after {result.subject} one of the "
        f"variety{beside}, or of length, familiarity, or chance?"
    )


def banners(result: ControlAnalysis) -> tuple[str, ...]:
    """Return where a control is as strong as the subject, or chance is."""
    found = [
        f"{row.model}: δ after {row.guise} is {number(row.strength.value, 3, signed=True)}, and "
        "the interval of its difference from the subject’s holds zero."
        for row in result.lines
        if row.kind == CONTROL and row.difference.low <= 0 <= row.difference.high
    ]
    return tuple(found[:4])


def method(result: ControlAnalysis, record: dict[str, Any]) -> tuple[str, ...]:
    options = result.options
    return (
        "After Hofmann, Kalluri, Jurafsky and King (2024), Supplementary Information, Alternative "
        f"explanations; matching and adjustment are ours. δ is the mean score of "
        f"{listing(list(result.chosen))} minus that of all other attributes "
        f"({record['study']['title']}).",
        METHOD_CROSSED,
        "Intervals of differences take "
        f"{options.n_resamples:,} resamples of texts and of prompts, the same prompts for all "
        "guises (bias-corrected percentile). Guises that are none exchange the texts of each pair "
        f"at random, {options.n_resamples:,} times.",
        f"Adjusted effects are least squares of every pair’s mean over prompts on the difference "
        f"in {' and in '.join(result.held)} between its texts; the value where there is none, "
        "with standard errors that allow for unequal spread (HC3).",
    )
