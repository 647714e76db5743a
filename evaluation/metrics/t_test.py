"""Two-tailed t-tests of the difference of two means."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotation.common.lazy import stats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.few_units import LEAST_ON_A_SIDE, LEAST_UNITS
from evaluation.metrics.shown import Shown
from evaluation.metrics.undefined import UndefinedReason

Floats = NDArray[np.float64]
TestKind = Literal["student", "welch", "paired"]
TEST_KINDS: tuple[TestKind, ...] = ("student", "welch", "paired")


@dataclass(frozen=True)
class TTest:
    """A test of mean(first) = mean(second).

    difference : mean(first) − mean(second); low, high : its interval
    statistic, df, p_value : t, degrees of freedom, two-tailed p; of fewer than five pairs p alone,
        from all signs that they could have
    n_first, n_second : values that count
    """

    difference: float
    low: float
    high: float
    statistic: Annotated[float, Shown("t", 2)]
    df: Annotated[float, Shown("df", 0)]
    p_value: Annotated[float, Shown("p", is_p=True)]
    n_first: Annotated[int, Shown(name="n")]
    n_second: int
    kind: Annotated[TestKind, Shown(name="test")]
    reason: Annotated[str, Shown(name="test_reason")] = UndefinedReason.NONE

    @property
    def estimate(self) -> Estimate:
        """The difference; its n are the values of the first side."""
        why = self.reason
        if not why and np.isnan(self.low):
            why = UndefinedReason.FEW_FOR_INTERVAL
        reason = why if np.isnan(self.difference) else UndefinedReason.NONE
        return Estimate(self.difference, self.low, self.high, self.n_first, reason, why)


def t_test(
    first: ArrayLike, second: ArrayLike, *, kind: TestKind = "student", level: float = 0.95
) -> TTest:
    """Return the test of two lists; NaN = missing.

    kind : ``student`` takes the variances for equal (the usual routine's default), ``welch`` does
        not, ``paired`` tests the differences at positions where both lists have a value
    level : coverage of the interval of the difference, 0 to 1

    Values and intervals are those of `scipy.stats.ttest_ind` and `ttest_rel`. Two to four pairs
    have no interval, and an exact p-value: the share of all signs of their differences that give a
    mean as far from 0 (Fisher 1935, §21). Fewer pairs, fewer than eight values on a side, or no
    spread at all leave the test undefined, with a reason. Raises ValueError for infinite values,
    and for lists of unequal length where they are to be paired.
    """
    if kind not in TEST_KINDS:
        raise ValueError(f"kind is '{kind}', expected one of {', '.join(TEST_KINDS)}")
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"two lists are needed, got shapes {x.shape}, {y.shape}")
    if np.isinf(x).any() or np.isinf(y).any():
        raise ValueError("infinite values have no mean; drop them first")
    if kind == "paired":
        if x.shape != y.shape:
            raise ValueError(f"paired lists are of equal length, got {x.size} and {y.size}")
        both = ~(np.isnan(x) | np.isnan(y))
        x, y = x[both], y[both]
    else:
        x, y = x[~np.isnan(x)], y[~np.isnan(y)]
    sizes = (int(x.size), int(y.size))
    difference = float(x.mean() - y.mean()) if all(sizes) else np.nan
    reason = UndefinedReason.NONE
    if min(sizes) < 2:
        reason = UndefinedReason.FEW_FOR_TEST
    elif _constant(x - y) if kind == "paired" else _constant(x) and _constant(y):
        reason = UndefinedReason.NO_SPREAD
    elif min(sizes) < LEAST_ON_A_SIDE and kind != "paired":
        reason = UndefinedReason.FEW_ON_A_SIDE
    if reason:
        return TTest(difference, *(np.nan,) * 5, *sizes, kind, reason)
    if sizes[0] < LEAST_UNITS:
        return TTest(difference, *(np.nan,) * 4, _p_of_signs(x - y), *sizes, kind)
    with warnings.catch_warnings():
        # scipy fears for the precision where one of two samples is constant; zero is exact.
        warnings.filterwarnings("ignore", "Precision loss", RuntimeWarning)
        if kind == "paired":
            result = stats.ttest_rel(x, y)
        else:
            result = stats.ttest_ind(x, y, equal_var=kind == "student")
    interval = result.confidence_interval(level)
    return TTest(
        difference=difference,
        low=float(interval.low),
        high=float(interval.high),
        statistic=float(result.statistic),
        df=float(result.df),
        p_value=float(result.pvalue),
        n_first=sizes[0],
        n_second=sizes[1],
        kind=kind,
    )


def _p_of_signs(differences: Floats) -> float:
    """Return the share of all signs whose sum is as far from 0 as that of the differences."""
    signs = np.array(list(itertools.product((-1, 1), repeat=differences.size)))
    sums = np.abs(signs @ differences)
    return float(np.mean(sums >= abs(differences.sum()) * (1 - 1e-12)))


def _constant(values: np.ndarray) -> bool:
    return bool(np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())))
