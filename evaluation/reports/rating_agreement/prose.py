"""The words of a report on the agreement of raters."""

from __future__ import annotations

from typing import Any

from evaluation.analyses.rating_agreement import RatingAgreement
from evaluation.reports.parts.formatting import count
from evaluation.reports.parts.meanings import ALPHA

#: What the numbers at the head mean, by their labels; “…” stands for whatever a label names.
MEANINGS = {
    "Krippendorff’s … α": ALPHA,
    "α within groups": (
        "The same, computed for each group by itself: from the group that people agree least "
        "about to the one that they agree most about."
    ),
    "Split-half r of mean ratings": (
        "The people are cut into two random halves, and the means of one half are correlated "
        "with those of the other. Near 1 the means hardly depend on who was asked."
    ),
}


DAMAGE = "Ratings that look as if they were damaged before they came here."
WHY_DAMAGE = (
    "Ratings that are copies of others are rare by chance: compare them with their source before "
    "the numbers below are used. All of them are counted here."
)
WHY_OVERALL = (
    "Alpha is 1 where all agree and 0 where raters differ as much as ratings drawn from all at "
    "random."
)
WHY_GROUPS = "Within a group alpha compares its scales: do people see the same profile?"
WHY_SCALES = "On a scale alpha compares the groups: do people order them alike?"
CAVEATS = (
    "Alpha within a group is high only where raters agree on the group’s profile. It does not take "
    "away that one person uses the whole line and another its middle.",
    "A low alpha does not say that raters were careless: people may see a group differently.",
    "The reliability of mean profiles grows with the number of raters, alpha does not: the first "
    "asks whether as many other people would give the same means.",
)


def question(result: RatingAgreement, record: dict[str, Any]) -> str:
    return (
        f"{count(result.n_raters, 'person', 'people')} gave "
        f"{count(result.n_ratings, 'rating')} of {count(len(record['groups']), 'group')} on "
        f"{count(len(record['scales']), 'scale')}. This report measures how alike people rate the "
        "same group, and how well means of as many people would come out again."
    )


def method(result: RatingAgreement) -> tuple[str, ...]:
    options = result.options
    return (
        "Accepted ratings count, without repeated groups. Krippendorff’s alpha is 1 − Dₒ/Dₑ of the "
        "coincidences of ratings; whoever did not rate a unit is missing there. Units are the "
        "scales within a group, the groups on a scale, and all cells of groups by scales overall.",
        "Intervals are for people and units like these: a jackknife of ln(1 − α) over either, "
        "from five people and 40 units on. With fewer none was shown to hold.",
        "For split halves the raters of a group who rated every scale are parted at random "
        f"{options.n_splits} times. r is Pearson’s between the mean profiles of the two halves, "
        "over the cells of all groups where these are taken together; its mean and sd are those "
        "over the splits, and Spearman–Brown is the mean of 2r/(1 + r).",
    )


NEGATIVE_HALVES = (
    "Spearman–Brown supposes halves that agree: where r of some splits is negative, 2r/(1 + r) "
    "falls without limit, and a mean below −1, or below r, says no more than that halves disagree."
)


def caveats(result: RatingAgreement) -> tuple[str, ...]:
    halves = (result.split_half, *(row.split_half for row in result.groups))
    return (
        *CAVEATS,
        *((NEGATIVE_HALVES,) if any(one.spearman_brown < one.r for one in halves) else ()),
    )


def left_out(study: dict[str, Any]) -> tuple[str, ...]:
    if not study["excluded"]:
        return ()
    return (f"{count(study['excluded'], 'submission')}: excluded in the review.",)
