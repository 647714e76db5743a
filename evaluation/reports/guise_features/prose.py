"""The words of the report on features."""

from __future__ import annotations

from typing import Any

from annotation.corpora.guise_features import GUISE_FEATURES
from evaluation.analyses.guise_features import PER_WORDS, FeatureAnalysis
from evaluation.reports.parts.formatting import count, interval, listing, p_value
from evaluation.reports.parts.guise_tables import METHOD_CROSSED, disagreement
from evaluation.reports.parts.meanings import DELTA

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Strongest: …": DELTA,
    "One more feature in … words, …": (
        "How much the strength of the stereotype changes where texts hold one more of the "
        "feature in so many words. 0: more features do not evoke more."
    ),
}


WHY = (
    "Which features of a variety evoke the stereotype. Above zero, attributes of the stereotype "
    "gain more than others where the text has the feature."
)
WHY_DOSE = (
    "If features make the stereotype, texts with more of them have a stronger one. A slope over "
    "texts as they are found is no effect of the features: such texts differ in other ways too."
)
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety.",
    "Features are found by search patterns, which over- and undershoot. A pair may have several; "
    "choose pairs in which nothing else differs to tell them apart.",
    "The paper’s test takes prompts and versions for independent samples and the texts for fixed.",
)


def question(result: FeatureAnalysis, record: dict[str, Any]) -> str:
    first, second = record["runs"][0]["varieties"]
    return (
        f"Which features of {first}, found {count(sum(result.pairs), 'time')} in pairs with "
        f"{second} (once for each pair that has one), evoke the stereotype of "
        f"{record['study']['title']} in models, and does it grow with their density?"
    )


def disagreements(result: FeatureAnalysis) -> tuple[str, ...]:
    """Return where the paper's test and the interval over texts and prompts disagree."""
    return disagreement(
        "The paper’s test and the interval disagree",
        [
            f"{row.model}, {GUISE_FEATURES[row.feature]}: {p_value(row.p_paper_holm)} against "
            f"{interval(row.strength.low, row.strength.high, 3, signed=True)}"
            for row in result.lines
            if row.disagree
        ],
    )


def method(result: FeatureAnalysis, record: dict[str, Any]) -> tuple[str, ...]:
    which = (
        "in which no other of the eight differs"
        if record["alone"]
        else "whatever else differs between its texts"
    )
    return (
        "After Hofmann, Kalluri, Jurafsky and King (2024), Fig. 2c and Supplementary Information, "
        f"Feature analysis. δ is the mean score of {listing(result.chosen)} minus that of all "
        f"other attributes ({record['study']['title']}), pair by pair. A pair counts for a "
        f"feature if its first text has it more often than its second, {which}.",
        "The eight features are found by closed lists and patterns (ours): "
        f"{listing(list(GUISE_FEATURES.values()))}.",
        "The paper’s test is a one-sided t-test of the means of every version, setting and prompt "
        f"against zero, by Holm over features. {METHOD_CROSSED}",
        f"Density is features in {PER_WORDS} words of the first text, less those of the second. "
        "Slopes are of least squares over pairs, with standard errors that allow for unequal "
        "spread (HC3); adjusted ones hold the logarithm of the words and the difference in words "
        "constant.",
    )


def left_out(result: FeatureAnalysis) -> tuple[str, ...]:
    absent = [
        GUISE_FEATURES[name] for name, n in zip(result.features, result.pairs, strict=True) if not n
    ]
    return (f"In no pair: {listing(absent)}.",) if absent else ()
