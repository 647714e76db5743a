"""What the alignment analysis returns: frozen records from a single cell to the whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from evaluation.analyses.tau_answers import Answers
from evaluation.metrics import Interval, UndefinedReason
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.shown import Shown


@dataclass(frozen=True)
class AlignmentOptions:
    """The choices behind an alignment.

    seed : whole number from 0; the same seed and data give the same intervals
    n_resamples : how often answers of participants are exchanged
    n_splits : split halves for the noise ceiling, 0 for none
    level : coverage of the intervals, 0 to 1
    ceiling_share : central share of the split halves that the ceiling's band shows, 0 to 1
    k : places at either end for precision at k
    center : the neutral rating
    """

    seed: int = 0
    n_resamples: int = 2_000
    n_splits: int = 1_000
    level: float = 0.95
    ceiling_share: float = 0.8
    k: int = 3
    center: float = 50.0

    def __post_init__(self) -> None:
        for name, least in (("seed", 0), ("n_resamples", 0), ("n_splits", 0), ("k", 1)):
            value = getattr(self, name)
            if value < least:
                raise ValueError(f"{name} is {value}, expected a whole number from {least}")
        for name in ("level", "ceiling_share"):
            value = getattr(self, name)
            if not 0 < value < 1:
                raise ValueError(f"{name} is {value}, expected a share between 0 and 1")
        if not 0 <= self.center <= 100:
            raise ValueError(f"center is {self.center}, expected a rating from 0 to 100")


@dataclass(frozen=True)
class Resampling:
    """What was drawn again for which interval."""

    group: str = "scales, left out in turn"
    overall: str = "signs of whole submissions"


@dataclass(frozen=True)
class ResampledValue:
    """A value, NaN with a reason where undefined, and its interval, as alignments store it."""

    value: float
    interval: Interval
    reason: str = UndefinedReason.NONE

    def estimate(self, n: int = 0) -> Estimate:
        """Return the value as every table and figure reads it; n = units that it rests on."""
        found = self.interval
        signature = f"{found.method}|resamples:{found.n_resamples}|level:{found.level:g}"
        return Estimate(
            self.value, found.low, found.high, n, self.reason, found.reason, signature=signature
        )


#: Of single groups: τ as observed, and its p-values.
ObservedTau = Annotated[
    Estimate,
    Shown(
        "τ",
        2,
        name="tau",
        prefix="tau_",
        style="strong",
        meaning="as observed; the interval leaves out one scale at a time",
    ),
]
PublishedP = Annotated[float, Shown(meaning="of tau, scales as independent draws")]
PublishedPHolm = Annotated[float, Shown(meaning="p_value corrected over the groups")]
ResampledP = Annotated[float, Shown("p", is_p=True, meaning="of tau, from the t of its interval")]
ResampledPHolm = Annotated[
    float, Shown("p (Holm)", is_p=True, meaning="p_resampled corrected over the groups")
]


@dataclass(frozen=True)
class NoiseCeiling:
    """Tau between the mean profiles of two random halves of the people.

    mean, low, high : mean and central band over the splits, NaN where undefined
    n_first, n_second : people in either half
    n_splits, n_skipped : splits that count, and splits that could not be compared
    """

    mean: Annotated[float, Shown("Halves", 2, meaning="τ between halves of the raters")]
    low: float
    high: float
    n_first: int = 0
    n_second: int = 0
    n_splits: int = 0
    n_skipped: int = 0
    reason: str = UndefinedReason.NONE


@dataclass(frozen=True)
class HumanCell:
    """People's ratings of one group on one scale, 0 to 100; sd with ddof 1.

    rank : 1 = nearest the 100 pole, among the group's scales with ratings and scores
    """

    mean: Annotated[float, Shown(unit="rating, 0 to 100")]
    sd: Annotated[float, Shown(unit="rating, 0 to 100")]
    n: Annotated[int, Shown(meaning="ratings")]
    interval: Interval
    rank: Annotated[int | None, Shown(whole=True, meaning="1 = nearest the 100 pole")]
    reason: str = UndefinedReason.NONE
    sd_reason: str = UndefinedReason.NONE


@dataclass(frozen=True)
class ModelCell:
    """The model's score of one group on one scale, positive toward the 100 pole.

    n : prompts behind the score, None where unknown
    """

    mean: Annotated[float, Shown(unit="the measure’s")]
    low: Annotated[float, Shown()]
    high: Annotated[float, Shown()]
    n: Annotated[int | None, Shown(whole=True, meaning="prompts")]
    rank: Annotated[int | None, Shown(whole=True, meaning="1 = nearest the 100 pole")]
    reason: str = UndefinedReason.NONE


@dataclass(frozen=True)
class Cell:
    group: Annotated[str, Shown(meaning="slug of the group")]
    scale: Annotated[str, Shown(meaning="slug of the scale")]
    human: Annotated[HumanCell, Shown(prefix="human_")]
    model: Annotated[ModelCell, Shown(prefix="model_")]


@dataclass(frozen=True)
class GroupAlignment:
    """One group: how the order of the model's scores follows the order of people's means.

    n_raters : submissions with at least one rating of the group
    n_incomplete : those among them that did not rate every scale; their ratings count
    n_scales : scales with both a mean and a score
    p_value, p_holm : of tau, two-sided, as published: every scale an independent draw and people's
        means without error; corrected over the groups of the result
    p_resampled, p_resampled_holm : the same from the t of tau's interval, below 1 − level where it
        leaves out 0
    """

    group: Annotated[str, Shown(meaning="slug of the group")]
    n_raters: Annotated[int, Shown("Raters", 0)]
    n_incomplete: Annotated[int, Shown(meaning="raters who did not rate every scale")]
    n_scales: Annotated[int, Shown(meaning="scales with a mean and a score")]
    tau: ResampledValue
    p_value: PublishedP
    p_holm: PublishedPHolm
    precision_top: Annotated[ResampledValue, Shown("Top", 2)]
    precision_bottom: Annotated[ResampledValue, Shown("Bottom", 2)]
    precision: Annotated[ResampledValue, Shown("P@3", 2, prefix="precision_")]
    ceiling: Annotated[NoiseCeiling, Shown(prefix="ceiling_")]
    p_resampled: ResampledP
    p_resampled_holm: ResampledPHolm

    @property
    def observed(self) -> ObservedTau:
        return self.tau.estimate(self.n_raters)


@dataclass(frozen=True)
class PooledAlignment:
    """All groups together.

    tau, p_value : over all cells pooled, as observed (Cao et al. 2022, Table 6); the interval is
        that of `answers.observed`, the p-value takes the cells for independent
    group_tau : mean of the groups' taus, which differs from the pooled one; without interval
    precision_* : means over groups, likewise
    n_submissions, n_annotations, n_cells, n_groups : people, people × groups, cells and groups
        that the estimates rest on
    n_tested, n_above_zero : groups with a p-value; groups with tau > 0 and a corrected p-value
        below 1 − level
    answers : tau without noise and as observed, for these groups and for groups like these
    """

    n_submissions: int
    n_annotations: int
    n_groups: Annotated[int, Shown("Groups", 0)]
    n_cells: int
    tau: ResampledValue
    p_value: Annotated[
        float,
        Shown("p, cells independent", is_p=True, meaning="of tau, cells as independent draws"),
    ]
    group_tau: Annotated[ResampledValue, Shown("Mean τ of groups", 2, name="mean_group_tau")]
    precision_top: ResampledValue
    precision_bottom: ResampledValue
    precision: Annotated[ResampledValue, Shown("P@3", 2)]
    ceiling: Annotated[NoiseCeiling, Shown(prefix="ceiling_")]
    n_tested: int
    n_above_zero: int
    answers: Answers


@dataclass(frozen=True)
class LeftOut:
    """Something that did not enter, and why.

    what : group, cell, ratings or scores
    n : how many of it
    """

    what: str
    group: Annotated[str, Shown(meaning="slug of the group")]
    scale: Annotated[str, Shown(meaning="slug of the scale")]
    n: Annotated[int, Shown()]
    reason: Annotated[str, Shown()]


@dataclass(frozen=True)
class AlignmentResult:
    """The two pictures and how far they agree; see `analyze_alignment`."""

    analysis: str
    version: str
    signature: str
    options: AlignmentOptions
    groups: tuple[str, ...]
    scales: tuple[str, ...]
    pooled: PooledAlignment
    by_group: tuple[GroupAlignment, ...]
    cells: tuple[Cell, ...]
    left_out: tuple[LeftOut, ...]
    resampling: Resampling = field(default_factory=Resampling)
