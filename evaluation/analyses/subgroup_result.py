"""What the alignment by subgroups of participants returns; small cells are not in it at all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from evaluation.analyses.alignment_result import (
    AlignmentOptions,
    ObservedTau,
    PublishedP,
    PublishedPHolm,
    ResampledP,
    ResampledPHolm,
    ResampledValue,
)
from evaluation.analyses.tau_answers import Answer, Answers
from evaluation.metrics import Interval
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.shown import Shown

TAU, PRECISION = "tau", "precision"
QuestionSlug = Annotated[str, Shown(meaning="slug of the question; empty = all participants")]
#: Between the answers of two crossed questions, and between their slugs.
TIMES, CROSSED = " × ", "*"


@dataclass(frozen=True)
class Question:
    """One question about the participants.

    answers : all that can make a subgroup, in order
    given : submission → its answers; what is not among `answers` (declined, not answered) makes
        no subgroup, but counts when small remainders are looked for
    """

    slug: str
    answers: tuple[str, ...]
    given: Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class Reference:
    """Tau of as many participants drawn at random among those who answered the question.

    mean, low, high : mean and central band, with the coverage of the intervals
    """

    mean: Annotated[float, Shown(meaning="τ of as many random participants")]
    low: Annotated[float, Shown()]
    high: Annotated[float, Shown()]


TauOfSubgroup = Annotated[
    Estimate,
    Shown(
        "τ",
        2,
        name="tau",
        prefix="tau_",
        group="τ as observed",
        meaning="as observed; the interval is over people",
    ),
]


@dataclass(frozen=True)
class Subgroup:
    """Participants who gave one answer; question and answer are empty for all of them.

    n_people, n_cells : people, and cells that tau rests on
    tau, precision : pooled over cells, and mean over groups, as observed; tau has an interval
    p_value : of tau, as published: all cells independent
    answers : tau without noise, for these groups and for groups like these
    """

    question: QuestionSlug
    answer: Annotated[str, Shown()]
    n_people: Annotated[int, Shown("People", 0)]
    n_cells: Annotated[int, Shown()]
    tau: ResampledValue
    p_value: Annotated[float, Shown(meaning="of tau, cells as independent draws")]
    precision: Annotated[ResampledValue, Shown("P@3", 2, meaning="as observed")]
    reference: Annotated[Reference, Shown(prefix="random_")]
    answers: Answers

    @property
    def observed(self) -> TauOfSubgroup:
        return self.tau.estimate(self.n_people)


@dataclass(frozen=True)
class SubgroupGroup:
    """One group as one subgroup rates it; `p_holm` is corrected over its groups.

    p_resampled, p_resampled_holm : from the t of tau's interval
    """

    question: QuestionSlug
    answer: str
    group: Annotated[str, Shown(meaning="slug of the group")]
    n_raters: int
    n_scales: int
    tau: ResampledValue
    p_value: PublishedP
    p_holm: PublishedPHolm
    precision: Annotated[ResampledValue, Shown("P@3", 2)]
    p_resampled: ResampledP
    p_resampled_holm: ResampledPHolm

    @property
    def observed(self) -> ObservedTau:
        return self.tau.estimate(self.n_raters)


@dataclass(frozen=True)
class SubgroupCell:
    """Mean rating of one group on one scale by one subgroup, 0 to 100; sd with ddof 1."""

    question: QuestionSlug
    answer: str
    group: Annotated[str, Shown(meaning="slug of the group")]
    scale: Annotated[str, Shown(meaning="slug of the scale")]
    n: Annotated[int, Shown(meaning="ratings")]
    mean: Annotated[float, Shown(unit="rating, 0 to 100")]
    sd: Annotated[float, Shown(unit="rating, 0 to 100")]
    interval: Interval


@dataclass(frozen=True)
class SubgroupDifference:
    """First answer minus second answer of one question.

    expected : what the difference is on average when answers are exchanged between people at
        random; it is not 0 where one subgroup is smaller, since fewer people have noisier means
    p_value, p_holm : two-sided, from exchanging answers; corrected over the pairs
        of all questions, for either quantity apart
    noise_free, generalizing : the difference without noise on the cells that both rated, for these
        groups (tau alone) and for groups like these
    p_generalizing_holm : of `generalizing`, corrected likewise
    """

    question: str
    quantity: str
    first: str
    second: str
    value: Annotated[
        float, Shown("Observed", 2, name="difference", signed=True, meaning="as observed")
    ]
    expected: Annotated[
        float,
        Shown(
            "expected",
            2,
            signed=True,
            style="quiet",
            meaning="mean difference where answers are exchanged at random",
        ),
    ]
    p_value: Annotated[
        float,
        Shown(
            "p, answers exchanged",
            is_p=True,
            style="quiet",
            meaning="of the observed difference, by exchanging answers between people",
        ),
    ]
    p_holm: Annotated[float, Shown()]
    noise_free: Answer | None
    generalizing: Answer
    p_generalizing_holm: float


@dataclass(frozen=True)
class SubgroupResampling:
    """What was drawn again for which number."""

    overall: str = "signs of whole submissions"
    group: str = "scales, left out in turn"
    permutation: str = "the answers of whole submissions, exchanged between people who answered"


@dataclass(frozen=True)
class SubgroupResult:
    """See `analyze_subgroups`.

    hidden : questions with answers that are not shown, since they or what is left beside them
        would concern fewer people than `minimum`
    n_hidden_groups : groups × subgroups shown above that are hidden for the same reason
    """

    analysis: str
    version: str
    signature: str
    options: AlignmentOptions
    minimum: int
    groups: tuple[str, ...]
    scales: tuple[str, ...]
    questions: tuple[str, ...]
    subgroups: tuple[Subgroup, ...]
    by_group: tuple[SubgroupGroup, ...]
    cells: tuple[SubgroupCell, ...]
    differences: tuple[SubgroupDifference, ...]
    hidden: tuple[str, ...]
    n_hidden_groups: int
    resampling: SubgroupResampling = field(default_factory=SubgroupResampling)
