"""The words of the report on intelligence."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.guise_intelligence import IntelligenceAnalysis
from evaluation.reports.parts.formatting import listing
from evaluation.reports.parts.guise_tables import METHOD_CROSSED

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "…": (
        "What the model gives after texts in the first guise, less what it gives after texts in "
        "the second. 0 is no difference; the figure’s axis says what either side means."
    ),
}


WHY = "Below zero, the first guise is taken for less intelligent."
WHY_SINGLE = "Every adjective by itself, and the IQ prompt by prompt."
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety, or about their intelligence.",
    "Prompts and attributes are ours: those of the paper are not released, and there are no "
    "published values to compare with.",
)


def question(record: dict[str, Any]) -> str:
    first, second = record["runs"][0]["varieties"]
    return (
        f"After a text in {first} rather than in {second}, does a model take its author for less "
        "intelligent?"
    )


def method(result: IntelligenceAnalysis) -> tuple[str, ...]:
    found = []
    if result.high:
        found.append(
            f"Adjectives: the mean association score of {listing(list(result.high))} minus that of "
            f"{listing(list(result.low))}, pair by pair."
        )
    if result.values:
        found.append(
            f"IQ: of the probability of {listing(list(result.values))} together, the share on "
            f"{result.values[0]} after the first guise less that after the second, pair by pair."
        )
    return (*found, METHOD_CROSSED)
