"""The words of the report on verdicts."""

from __future__ import annotations

from evaluation.analyses.guise_decisions import DecisionAnalysis
from evaluation.analyses.guise_inference import tests_disagree
from evaluation.reports.parts.formatting import count, interval, p_value
from evaluation.reports.parts.guise_tables import (
    FEW_PROMPTS,
    METHOD_CROSSED,
    disagreement,
)

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "…": (
        "How many more decisions in a hundred end with this outcome after texts in the first "
        "guise than in the second. 0 would be equal treatment."
    ),
}


WHY = (
    "A decision is the outcome whose probability the text raises more, or lowers less. Above zero "
    "the first variety is judged more harshly."
)
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety, or about courts.",
    "Decisions for different prompts and models rest on the same texts and are not independent; "
    "the tests of counts take them for it, the intervals do not.",
    "A model that decides alike for all texts leaves nothing to test.",
    FEW_PROMPTS,
)


def question(varieties: tuple[str, ...]) -> str:
    first, second = varieties
    return (
        f"Told what somebody said in {first} rather than in {second}, does a model decide more "
        "often for a conviction, or for death?"
    )


def disagreements(result: DecisionAnalysis) -> tuple[str, ...]:
    """Return where the paper's test and ours come to different ends."""
    mcnemar = [
        f"{row.model}, {row.outcome}: {p_value(row.p_holm)} against {p_value(row.p_mcnemar_holm)}"
        for row in result.tests
        if not row.mcnemar.reason and (row.p_holm < 0.05) != (row.p_mcnemar_holm < 0.05)
    ]
    intervals = [
        f"{row.model}, {row.outcome}: {p_value(row.p_holm)} against "
        f"{interval(100 * row.difference.low, 100 * row.difference.high, 1, signed=True)} points"
        for row in result.tests
        if tests_disagree(row.p_holm, row.difference, result.options.level)
    ]
    return (
        *disagreement(
            "The paper’s test of counts and McNemar’s test of the same pairs disagree", mcnemar
        ),
        *disagreement(
            "The paper’s test of counts, which takes every decision for independent, and the "
            "interval of the difference disagree",
            intervals,
        ),
    )


def method(result: DecisionAnalysis) -> tuple[str, ...]:
    options = result.options
    calibration = {
        "difference": "its probability minus that after the same prompt without a text",
        "ratio": "its log probability minus that after the same prompt without a text",
        "off": "its probability",
    }[options.calibration]
    ties = (
        "A tie counts half for either outcome."
        if options.ties == "half"
        else "A tie counts as in the released code: convicted, and life."
    )
    return (
        "After Hofmann, Kalluri, Jurafsky and King (2024), Criminality analysis. The decision is "
        f"the outcome with the larger value of {calibration}. {ties} The relative increase is the "
        "count after the first guise over that after the second, minus one.",
        "The paper’s test compares the two counts of the detrimental outcome with equal shares "
        "(χ², df 1), which supposes as many decisions in either variety. The 2 × 2 test has no "
        "continuity correction. McNemar’s exact test looks at the pairs that were decided "
        "differently.",
        "Intervals of rates take "
        f"{options.n_resamples:,} resamples of texts and prompts (bias-corrected percentile).",
        *((METHOD_CROSSED,) if result.crossed else ()),
    )


def left_out(result: DecisionAnalysis) -> tuple[str, ...]:
    ties = sum(row.n_ties for row in result.tests)
    if not ties or result.options.ties != "half":
        return ()
    left = "is" if ties == 1 else "are"
    return (f"{count(ties, 'tie')} {left} left out of McNemar’s test.",)
