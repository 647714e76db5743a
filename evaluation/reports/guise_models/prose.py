"""The words of the report on models."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.guise_models import SIZE_CLASSES, ModelAnalysis
from evaluation.reports.parts.formatting import count, interval, listing, p_value
from evaluation.reports.parts.guise_tables import FEW_PROMPTS, disagreement

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Ten times the parameters: δ, …": (
        "By how much the strength of the stereotype (δ) changes where a model has ten times "
        "as many parameters. 0: size does not matter."
    ),
    "With human feedback: …": (
        "Models trained with human feedback minus models without. Below 0 the quantity is "
        "smaller with feedback."
    ),
}


WHY_SIZES = (
    "Whether larger models, which find texts of the variety more familiar, hold the stereotype "
    "less. Perplexities are comparable within one kind only: pseudo-perplexity hides each token "
    "in turn."
)
WHY_MODELS = "Model by model, since a class of sizes mixes families."
WHY_FEEDBACK = (
    "Whether training with human feedback weakens the stereotype where groups are named, and where "
    "only the variety tells."
)
CAVEATS = (
    "They describe models under stated prompts. They say nothing about the people who speak a "
    "variety.",
    "Models differ in more than size: families were trained on other texts. A trend over a few "
    "models is one of these models.",
    "The paper’s tests take prompts for independent samples and the texts for fixed.",
    FEW_PROMPTS,
)


def question(result: ModelAnalysis, record: dict[str, Any]) -> str:
    models = len({row.model for row in result.models})
    beside = ", or those trained with human feedback," if result.feedback else ""
    return (
        f"Do larger models{beside} hold the stereotype of {record['study']['title']} less, of "
        f"{count(models, 'model')}?"
    )


def disagreements(result: ModelAnalysis) -> tuple[str, ...]:
    """Return where the paper's test and the interval over texts and prompts disagree."""
    return disagreement(
        "On human feedback the paper’s test over prompts and the interval over texts and prompts "
        "disagree",
        [
            f"{row.quantity}, {row.probe}: {p_value(row.p_value)} against "
            f"{interval(row.difference.low, row.difference.high, 3, signed=True)}"
            for row in result.feedback
            if row.disagree
        ],
    )


def method(result: ModelAnalysis, record: dict[str, Any]) -> tuple[str, ...]:
    ends = [f"{most / 1e6:,.0f}" for _, most in SIZE_CLASSES[:-1]]
    options = result.options
    found = [
        "After Hofmann, Kalluri, Jurafsky and King (2024), Scaling analysis. δ is the mean score "
        f"of {listing(list(result.chosen))} minus that of all other attributes "
        f"({record['study']['title']}), for every model, setting and prompt. Classes of sizes end "
        f"at {listing(ends)} million parameters; numbers count as they are printed, with two "
        "digits.",
        f"Intervals take {options.n_resamples:,} resamples of texts, the same ones for runs on the "
        "same texts, and of prompts (bias-corrected percentile). The trend is least squares of δ "
        "on the logarithm of the number of parameters.",
    ]
    if result.feedback:
        without, with_it = record["feedback"]
        found.append(
            f"Human feedback: {listing(with_it)} against {listing(without)}. Favourability is that "
            "of the first five of every prompt, weighted by q; the paper’s test is a two-sided "
            "t-test with equal variances over prompts."
        )
    return tuple(found)


def left_out(result: ModelAnalysis) -> tuple[str, ...]:
    unknown = sorted({row.model for row in result.models if row.parameters is None})
    return tuple(f"{name}: its number of parameters is not known." for name in unknown)
