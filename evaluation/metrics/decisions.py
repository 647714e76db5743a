"""Decisions between two outcomes after either guise: calibration, rates, tests of counts.

Hofmann et al. (2024), Methods, Criminality analysis; methods.md §12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotation.common.lazy import stats
from evaluation.metrics.undefined import UndefinedReason

Floats = NDArray[np.float64]
Calibration = Literal["difference", "ratio", "off"]
Ties = Literal["half", "released"]


def decide(
    detrimental: ArrayLike,
    other: ArrayLike,
    empty_detrimental: ArrayLike = 0.0,
    empty_other: ArrayLike = 0.0,
    *,
    calibration: Calibration = "difference",
    ties: Ties = "half",
    released_tie: float = 0.0,
) -> Floats:
    """Return 1 where the detrimental outcome wins, 0 where the other does, NaN where missing.

    detrimental, other : ln P of both outcomes after a prompt with a text
    empty_detrimental, empty_other : ln P after the same prompt without a text; they broadcast
    calibration : ``difference`` P(text) − P(empty), as the released code; ``ratio``, its
        logarithm's difference; ``off``, none
    ties : ``half`` counts a tie half for each outcome (ours); ``released`` gives `released_tie`,
        since the released code takes the second outcome: *convicted* (1) and *life* (0)
    """
    x, y = np.asarray(detrimental, float), np.asarray(other, float)
    if calibration == "difference":
        margin = (np.exp(x) - np.exp(empty_detrimental)) - (np.exp(y) - np.exp(empty_other))
    elif calibration == "ratio":
        margin = (x - np.asarray(empty_detrimental)) - (y - np.asarray(empty_other))
    else:
        margin = x - y
    tie = 0.5 if ties == "half" else released_tie
    found = np.where(margin > 0, 1.0, np.where(margin < 0, 0.0, tie))
    return np.where(np.isnan(margin), np.nan, found)


def relative_increase(first: float, second: float) -> float:
    """Return first / second − 1; NaN where the denominator is 0 (a zero numerator is kept)."""
    return first / second - 1 if second > 0 else float("nan")


@dataclass(frozen=True)
class CountTest:
    """A test of counts; `n` is what it rests on, `df` 0 for an exact test."""

    statistic: float
    df: int
    p_value: float
    n: float
    reason: str = UndefinedReason.NONE


def equal_counts_test(first: float, second: float) -> CountTest:
    """Return the goodness of fit of two counts to equal shares, χ²(1): the paper's test.

    It assumes as many decisions in either variety. NaN where both counts are 0.
    """
    n = first + second
    if n <= 0:
        return CountTest(np.nan, 1, np.nan, n, UndefinedReason.NO_COUNTS)
    found = stats.chisquare([first, second])
    return CountTest(float(found.statistic), 1, float(found.pvalue), n)


def contingency_test(table: ArrayLike) -> CountTest:
    """Return χ²(1) of a 2 × 2 table without continuity correction; NaN where a margin is 0."""
    counts = np.asarray(table, dtype=np.float64)
    if counts.shape != (2, 2):
        raise ValueError(f"a 2 × 2 table is needed, got shape {counts.shape}")
    n = float(counts.sum())
    if not (counts.sum(axis=0) > 0).all() or not (counts.sum(axis=1) > 0).all():
        return CountTest(np.nan, 1, np.nan, n, UndefinedReason.NO_COUNTS)
    found = stats.chi2_contingency(counts, correction=False)
    return CountTest(float(found.statistic), int(found.dof), float(found.pvalue), n)


def mcnemar_test(first: ArrayLike, second: ArrayLike) -> CountTest:
    """Return McNemar's exact test of paired decisions (ours); n = discordant pairs.

    first, second : (n_pairs,) 1, 0 or NaN; pairs with a tie (0.5) on a side are left out

    Two-sided binomial p of the pairs in which the outcomes differ; NaN where there are none.
    """
    a, b = np.asarray(first, float), np.asarray(second, float)
    if a.shape != b.shape:
        raise ValueError(f"paired decisions are of one shape, got {a.shape} and {b.shape}")
    worse, better = int(((a == 1) & (b == 0)).sum()), int(((a == 0) & (b == 1)).sum())
    n = worse + better
    if not n:
        return CountTest(np.nan, 0, np.nan, 0, UndefinedReason.NO_DISCORDANT)
    return CountTest(float(worse), 0, float(stats.binomtest(worse, n).pvalue), n)
