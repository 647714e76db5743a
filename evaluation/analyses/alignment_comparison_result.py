"""What the comparison of several runs returns: overall values, groups, and differences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

from evaluation.analyses.alignment_result import (
    AlignmentOptions,
    GroupAlignment,
    LeftOut,
    PooledAlignment,
)
from evaluation.analyses.tau_answers import Answer
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.shown import Shown

ALL, TEST = "all", "test"
TAU, PRECISION = "tau", "precision"


TauOfRun = Annotated[
    Estimate,
    Shown(
        "τ",
        2,
        name="tau",
        prefix="tau_",
        interval_head="people",
        meaning="as observed; the interval is over people",
    ),
]


@dataclass(frozen=True)
class RunOverall:
    """One run over the groups of one part (Cao et al. 2022, Tables 6 and A19).

    part : all, or test = without the pilot groups
    p_holm : of the pooled tau, corrected over the runs of the part
    p_generalizing_holm : of `pooled.answers.generalizing`, corrected over the runs of the part
    """

    run: Annotated[str, Shown(meaning="public id of the run")]
    part: Annotated[str, Shown()]
    pooled: PooledAlignment
    p_holm: float
    p_generalizing_holm: float

    @property
    def observed(self) -> TauOfRun:
        return self.pooled.tau.estimate(self.pooled.n_cells)


@dataclass(frozen=True)
class RunGroup:
    """One group with one run (Tables A11 to A13).

    p_table : p-value corrected over every group of every run; `alignment.p_holm` is corrected
        over the groups of the run alone
    p_resampled_table : likewise of `alignment.p_resampled`
    """

    run: Annotated[str, Shown(meaning="public id of the run")]
    alignment: GroupAlignment
    p_table: Annotated[float, Shown(name="p_holm_table", meaning="p_value over groups of all runs")]
    p_resampled_table: Annotated[
        float, Shown(name="p_resampled_holm_table", meaning="p_resampled over groups of all runs")
    ]


@dataclass(frozen=True)
class Difference:
    """First run minus second run, on the cells that both score and people rated.

    quantity : tau (pooled over cells) or precision (mean over groups)
    observed : the difference as observed for these groups; of tau with what other people would give
    p_holm : of `observed`, corrected over the pairs of the part
    noise_free, generalizing : the difference without noise, for these groups (tau alone) and for
        groups like these
    p_generalizing_holm : of `generalizing`, corrected over the pairs of the part
    """

    part: str
    quantity: str
    first: Annotated[str, Shown(meaning="public id of the first run")]
    second: Annotated[str, Shown(meaning="public id of the second run")]
    n_groups: int
    n_cells: int
    first_value: float
    second_value: float
    observed: Answer
    p_holm: float
    noise_free: Answer | None
    generalizing: Answer
    p_generalizing_holm: float


@dataclass(frozen=True)
class RunLeftOut:
    """Something of one run that did not enter; an empty run means all of them."""

    run: str
    item: LeftOut


@dataclass(frozen=True)
class ComparisonResampling:
    """What was drawn again for which interval."""

    overall: str = "signs of whole submissions"
    group: str = "scales, left out in turn"
    difference: str = "signs of whole submissions, the same for both runs"


@dataclass(frozen=True)
class ComparisonResult:
    """Several runs beside the same people; see `compare_alignments`."""

    analysis: str
    version: str
    signature: str
    options: AlignmentOptions
    runs: tuple[str, ...]
    groups: tuple[str, ...]
    scales: tuple[str, ...]
    pilot_groups: tuple[str, ...]
    test_groups: tuple[str, ...]
    overall: tuple[RunOverall, ...]
    by_group: tuple[RunGroup, ...]
    differences: tuple[Difference, ...]
    left_out: tuple[RunLeftOut, ...]
    resampling: ComparisonResampling = field(default_factory=ComparisonResampling)
