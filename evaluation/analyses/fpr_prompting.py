"""What prompting adds to a gap: answers without a class, and how the question was put (*ours*).

A class that is drawn where an answer names none is the same for all groups and makes gaps smaller.
The gap is bounded by counting all such answers as errors, as correct, and, for the widest bounds,
as errors for one group and correct for the others.

Of the gaps of all runs, a factor such as the wording explains the share ε² (Kelley 1935, An
Unbiased Correlation Ratio Measure), sums of squares taken over groups together. It is 0 on average
where the factor explains nothing, and may lie below.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from evaluation.analyses.fpr_counts import (
    Floats,
    GapOptions,
    Predictions,
    count_errors,
)
from evaluation.analyses.fpr_gaps import analyze_gaps
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.shown import Shown

FACTORS = ("wording", "order", "seed")
ONE_EACH = "every level was tried once, so that chance cannot be told apart"
FEW_RUNS = "few runs say too little about other wordings, orders, and seeds"
NO_SPREAD = "all runs have the same gaps"


@dataclass(frozen=True)
class FallbackBounds:
    """A group's gap under other ways to count answers without a class.

    n_answers, n_without : over all runs; those that named no class
    errors, correct : the gap where all of these are false positives, or none is
    low, high : the smallest and largest gap that they could make
    """

    side: Annotated[str, Shown("Side")]
    group: Annotated[str, Shown()]
    n_answers: Annotated[int, Shown("n", 0, meaning="answers of all runs")]
    n_without: Annotated[int, Shown("", 0, meaning="answers that named no class")]
    errors: Annotated[
        Estimate,
        Shown(
            "All errors",
            3,
            name="gap_errors",
            signed=True,
            prefix="errors_",
            meaning="gap where these answers are false positives",
        ),
    ]
    correct: Annotated[
        Estimate,
        Shown(
            "All correct",
            3,
            name="gap_correct",
            signed=True,
            prefix="correct_",
            meaning="gap where none of them is",
        ),
    ]
    low: Annotated[
        float, Shown("Lowest", 3, name="lowest", signed=True, meaning="smallest possible gap")
    ]
    high: Annotated[
        float, Shown("Highest", 3, name="highest", signed=True, meaning="largest possible gap")
    ]

    @property
    def share(
        self,
    ) -> Annotated[float, Shown("Without, %", 1, scale=100, meaning="of all runs’ answers")]:
        return self.n_without / self.n_answers


@dataclass(frozen=True)
class FactorShare:
    """Share of the variance of gaps over runs that a factor of the prompts explains; n = runs."""

    side: Annotated[str, Shown("Side")]
    factor: Annotated[str, Shown()]
    n_levels: Annotated[int, Shown("Levels", 0)]
    share: Annotated[
        Estimate,
        Shown(
            "Share, %",
            0,
            scale=100,
            no_interval=True,
            meaning="ε² of all runs and groups",
            n=Shown("Runs", name="n_runs"),
        ),
    ]


def fallback_bounds(predictions: Predictions, options: GapOptions) -> tuple[FallbackBounds, ...]:
    """Return the bounds of every group that is compared; none where every answer named a class."""
    if predictions.matched is None or predictions.matched.all():
        return ()
    frame = predictions.sentences
    groups = frame["group"].to_numpy()
    worst, best = (
        analyze_gaps(predictions, replace(options, fallback=way)) for way in ("errors", "correct")
    )
    found = []
    for side in predictions.classes:
        errors, correct = worst.of(side), best.of(side)
        low = np.array([gap.fpr for gap in correct])
        high = np.array([gap.fpr for gap in errors])
        n = len(low)
        for place, (most, least) in enumerate(zip(errors, correct, strict=True)):
            own = predictions.matched[:, groups == most.group]
            others_low, others_high = low.sum() - low[place], high.sum() - high[place]
            found.append(
                FallbackBounds(
                    side,
                    most.group,
                    own.size,
                    int((~own).sum()),
                    most.gap,
                    least.gap,
                    float(low[place] - (low[place] + others_high) / n),
                    float(high[place] - (high[place] + others_low) / n),
                )
            )
    return tuple(found)


def factor_shares(predictions: Predictions, options: GapOptions) -> tuple[FactorShare, ...]:
    """Return the shares of wordings, orders of labels and seeds that a run varied.

    They have no intervals: few runs say too little about other wordings and seeds.
    """
    factors = predictions.factors
    if factors is None:
        return ()
    table = count_errors(predictions, options.fallback)
    gaps = table.gaps(table.rates())[:, :, table.reference]
    found = []
    for name in FACTORS:
        levels = factors[name].astype(str).to_numpy()
        rows = levels != ""
        number = len(set(levels[rows]))
        if number < 2:
            continue
        for c, side in enumerate(predictions.classes):
            share = _share(gaps[c, rows], levels[rows])
            found.append(FactorShare(side, name, number, share))
    return tuple(found)


def _share(gaps: Floats, levels: Sequence[str]) -> Estimate:
    n = len(gaps)
    if n == len(set(levels)):
        return no_estimate(ONE_EACH)
    value = _epsilon_squared(gaps, levels)
    if np.isnan(value):
        return no_estimate(NO_SPREAD)
    return Estimate(value, n=n, interval_reason=FEW_RUNS)


def _epsilon_squared(gaps: Floats, levels: Sequence[str]) -> float:
    """Return ε² of (n_runs, n_groups) gaps: (SS − df · MS_within) / SS_total."""
    names = np.asarray(levels)
    total = float(((gaps - gaps.mean(axis=0)) ** 2).sum())
    own = [gaps[names == name] for name in dict.fromkeys(levels)]
    within = float(sum(((one - one.mean(axis=0)) ** 2).sum() for one in own))
    n, k = len(gaps), len(own)
    explained = total - within - (k - 1) * within / (n - k)
    return explained / total if total > 1e-18 else np.nan
