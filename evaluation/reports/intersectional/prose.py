"""The words of the intersectional report. They state what was done, never a verdict."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.emergence_norms import NormAgreement
from evaluation.analyses.intersectional_result import IntersectionalResult
from evaluation.analyses.norm_curve import NormCurve
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.score_words import (
    measure_title,
    options_in_words,
    quoted_templates,
    scored_over,
)

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "τ with the more similar component": (
        "How alike the traits of a paired group are to those of whichever of its two groups "
        "it resembles more. 1: the pair is nothing but that group."
    ),
    "τ between the two orders": (
        "How alike a paired group is to itself with the groups named the other way round. 1: "
        "the order of names does not matter."
    ),
    "Domain pairs in which one dominates": (
        "Pairs of domains, such as age and race, in which paired groups resemble the group of "
        "one domain more than that of the other."
    ),
    "Scores … both components": (
        "The share of scores in which the paired group goes beyond both of its groups: traits "
        "that neither has by itself. Were the three scores alike but for chance, two thirds would "
        "lie beyond both, and one third above both."
    ),
    "Precision against the list": (
        "Of the traits that emerge, the share that stands in the list of expected ones. "
        "Compare with what chance would give."
    ),
}


WHY_ORDER = (
    "If only one of two identities reached the model, a paired group would rank the traits as that "
    "component does. If the wording ruled, the two orders would differ."
)
WHY_DOMAINS = (
    "A domain prevails over another where paired groups rank the traits more as their component "
    "of that domain does."
)
WHY_EMERGENCE = (
    "What a paired group has beyond both of its components is what neither identity shows alone."
)
WHY_NORMS = (
    "The list says which associations people expect of these groups. Chance draws as many "
    "associations at random as emerged."
)
CAVEATS = (
    "They describe one model under stated prompts. They say nothing about the people in a group.",
    "An emergent score is the model’s for a phrase. That neither component has it does not make it "
    "a stereotype that people hold.",
    "The list of emergent associations shows the largest of many differences: some are large by "
    "chance, and single entries have no interval. Compare them over other templates before you "
    "rely on one.",
    "Some paired phrases are rare or sound odd. What the model makes of them rests on little text.",
    "Intervals resample the component groups: they say what other groups of these domains would "
    "give, not what other models or templates would.",
)


def question(record: dict[str, Any], result: IntersectionalResult) -> str:
    """Return the lead: what is compared with what."""
    return (
        f"{count(len(result.orders), 'paired group')} of two identities each, such as “Asian "
        f"teenager”, beside the {count(record['n_components'], 'single group')} that they are made "
        "of: does the order of the two matter to the model, which domain prevails, and what "
        "emerges that neither has alone?"
    )


def method(
    record: dict[str, Any],
    result: IntersectionalResult,
    *,
    norms: NormAgreement | None,
    curve: NormCurve | None,
) -> tuple[str, ...]:
    """Return the method in words."""
    options, run = result.options, record["run"]
    n_traits, by_poles = len(record["traits"]), record["by_poles"]
    score = (
        "A score is that of one adjective by itself"
        if by_poles
        else "A score is that of a trait pair’s right adjective minus that of its left"
    )
    over = count(2 * n_traits, "adjective") if by_poles else count(n_traits, "trait pair")
    below = (
        "; an adjective vanishes by the smaller of theirs minus its own"
        if by_poles
        else ", and the smaller of theirs minus its own"
    )
    beyond = (
        f"; it counts above {options.least_excess:g} in the measure’s unit"
        if options.least_excess
        else ""
    )
    found = [
        f"After Cao et al. (2022), section 5.2. {score}; the measure is {measure_title(record)}, "
        f"{options_in_words(run)}, {scored_over(run)}{quoted_templates(run)} τ is "
        f"Kendall’s tau-b over {over}.",
        "Order: τ of a paired group with its first and second component and with itself in the "
        "other order, averaged over all paired groups, as in the paper, and over the paired groups "
        "that exist in both orders. Domains: mean τ "
        "with the component of either domain over all paired groups of the two, both orders; one "
        f"dominates where its mean is higher by {options.dominance_threshold:g} or more. A group "
        "belongs to the first domain that the library names. Emergence: the paired group’s score "
        f"minus the larger of its components’{below}{beyond}.",
        f"Intervals come from {options.n_resamples} resamples of the component groups, in which a "
        "paired group weighs as often as both of its components were drawn (Owen 2007), since "
        "paired groups that share a component are not independent.",
    ]
    if norms:
        found.append(
            "Against the list: all associations that emerge, not only those shown here, sorted "
            "into group, dimension and pole; both orders are one group, and groups and dimensions "
            "that the list does not name are left out. Chance is hypergeometric, p one-sided."
        )
    if curve:
        found.append(
            "Average precision runs through every excess above zero, whatever the least one. Its "
            f"interval comes from {options.n_resamples} resamples of the list’s groups; chance and "
            f"p from {curve.n_shuffles} shuffles of the excesses."
        )
    return tuple(found)


def left_out(record: dict[str, Any], result: IntersectionalResult) -> tuple[str, ...]:
    """Return what did not enter, with the reason."""
    names, norms = record["groups"], record["norms"] or {"not_scored": ()}
    return (
        *record["left_out"],
        *(f"{names.get(row.pair, row.pair)}: {row.reason}." for row in result.orders if row.reason),
        *(
            f"Expected of {pair}: the run has no paired group of these two."
            for pair in norms["not_scored"]
        ),
    )
