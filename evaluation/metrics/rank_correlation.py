"""Kendall's tau-b: one value with its p-value, or many at once for resampling."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotation.common.lazy import stats
from evaluation.metrics.few_units import LEAST_SCALES
from evaluation.metrics.interval import Interval, no_interval
from evaluation.metrics.undefined import UndefinedReason

MINIMUM_PAIRS = 3
JACKKNIFE = "jackknife over scales"
LONGEST_COMPARED_PAIRWISE = 400


@dataclass(frozen=True)
class RankCorrelation:
    """Kendall's tau-b of two lists.

    value : −1 to 1, NaN where undefined
    p_value : two-sided, NaN where undefined
    n : positions at which both lists have a number
    reason : why the value is NaN, empty otherwise
    """

    value: float
    p_value: float
    n: int
    reason: str = UndefinedReason.NONE


def kendall_tau_b(first: ArrayLike, second: ArrayLike) -> RankCorrelation:
    """Return tau-b of two lists and its p-value.

    first, second : (n,), NaN = missing; a position counts where both have a number

    tau-b = (C − D) / sqrt((P − T1)(P − T2)) with C concordant and D discordant pairs among P,
    T1 and T2 the pairs tied in either list (Kendall 1945). Value and p-value are those of
    `scipy.stats.kendalltau` with its default method: exact without ties, normal otherwise.
    Fewer than three positions, or a list without two different values, give NaN and a reason.
    Raises ValueError for lists of unequal length or with infinite values.
    """
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"two lists of equal length are needed, got shapes {x.shape}, {y.shape}")
    if np.isinf(x).any() or np.isinf(y).any():
        raise ValueError("infinite values have no place in a rank correlation; drop them first")
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    n = int(x.size)
    if n < MINIMUM_PAIRS:
        return RankCorrelation(np.nan, np.nan, n, UndefinedReason.TOO_FEW)
    if np.all(x == x[0]):
        return RankCorrelation(np.nan, np.nan, n, UndefinedReason.CONSTANT_FIRST)
    if np.all(y == y[0]):
        return RankCorrelation(np.nan, np.nan, n, UndefinedReason.CONSTANT_SECOND)
    result = stats.kendalltau(x, y)
    return RankCorrelation(float(result.statistic), float(result.pvalue), n)


def kendall_tau_b_batch(
    first: ArrayLike, second: ArrayLike, weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Return tau-b for every row of a batch.

    first : (n_batch, n), NaN = missing
    second : (n,) the same for every row, or (n_batch, n), NaN = missing
    weights : None, or (n_batch, n) counts ≥ 0: how often a position was drawn in a resample.
        A position drawn twice is a tie with itself and drops out, as it does when the
        repeated list is given in full.

    returns : (n_batch,), NaN where a row has no untied pair in one of the lists. Unlike
    `kendall_tau_b` there is no minimum of three positions, since a resample may have two.

    Equal to `scipy.stats.kendalltau` row by row up to rounding. Up to 400 positions the pairs of
    all rows are compared at once, one position against all later ones: O(n_batch · n²). Longer
    rows without weights go to scipy one by one, whose sorting is O(n log n).
    """
    x = np.asarray(first, dtype=float)
    y = np.asarray(second, dtype=float)
    if x.ndim != 2 or y.shape not in (x.shape, x.shape[1:]):
        raise ValueError(f"shapes {x.shape} and {y.shape} do not fit: (n_batch, n) and (n,)")
    shared = y.ndim == 1
    if weights is None and x.shape[1] > LONGEST_COMPARED_PAIRWISE:
        return _row_by_row(x, np.broadcast_to(y, x.shape))
    missing = np.isnan(x) | np.isnan(y)
    w: NDArray[np.float64] | None = None
    if weights is not None:
        w = np.asarray(weights, dtype=float)
        if w.shape != x.shape:
            raise ValueError(f"weights have shape {w.shape}, expected {x.shape}")
        if np.isnan(w).any() or (w < 0).any():
            raise ValueError("weights are counts: numbers from 0")
    if missing.any():
        w = np.where(missing, 0.0, 1.0 if w is None else w)
    a = _order(x)
    b = _order(y[None, :] if shared else y)
    if w is None:
        parts = _count_pairs(a, b, shared=shared)
    else:
        parts = _weigh_pairs(a, b, np.ascontiguousarray(w.T))
    difference, untied_x, untied_y = parts
    scale = np.sqrt(untied_x * untied_y)
    return np.divide(difference, scale, out=np.full(scale.shape, np.nan), where=scale > 0)


def tau_over_scales(
    first: ArrayLike, second: ArrayLike, *, level: float = 0.95
) -> tuple[Interval, float]:
    """Return the interval of tau-b of two lists for scales like these, and p of a tau of 0.

    first, second : (n,), NaN = missing

    Scales are left out in turn (Tukey 1958), on Fisher's scale artanh τ, which keeps the interval
    within −1 and 1; Student's t with n − 1, and p from the same t. The noise of either list's
    values is part of what differs between scales. None below ten scales, and where tau or tau
    without a scale is ±1 or undefined.
    """
    x, y = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    both = ~(np.isnan(x) | np.isnan(y))
    n = int(both.sum())
    if n < LEAST_SCALES:
        return no_interval(UndefinedReason.FEW_SCALES, level=level), np.nan
    sign_x, sign_y = (np.sign(one[both][:, None] - one[both]) for one in (x, y))
    parts = (sign_x * sign_y, np.abs(sign_x), np.abs(sign_y))
    # All scales first, then without each: a scale takes part in twice the sum of its row.
    pairs = [np.append(part.sum(), part.sum() - 2 * part.sum(axis=1)) for part in parts]
    scale = np.sqrt(pairs[1] * pairs[2])
    taus = np.divide(pairs[0], scale, out=np.ones(n + 1), where=scale > 0)
    if (np.abs(taus) > 1 - 1e-9).any():
        return no_interval(UndefinedReason.AT_LIMIT, level=level), np.nan
    value, without = np.arctanh(taus[0]), np.arctanh(taus[1:])
    error = float(np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum()))
    if error <= 1e-12:
        return no_interval(UndefinedReason.NO_SPREAD_AT_ALL, level=level), np.nan
    reach = float(stats.t.ppf((1 + level) / 2, n - 1)) * error
    low, high = np.tanh([value - reach, value + reach])
    p_value = float(2 * stats.t.sf(abs(value) / error, n - 1))
    return Interval(float(low), float(high), level, JACKKNIFE), p_value


def _row_by_row(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    taus = np.full(len(x), np.nan)
    for i, (row, other) in enumerate(zip(x, y, strict=True)):
        both = ~(np.isnan(row) | np.isnan(other))
        a, b = row[both], other[both]
        if a.size and a.min() < a.max() and b.min() < b.max():
            # The p-value is not used; this is the method whose cost does not grow with n².
            taus[i] = stats.kendalltau(a, b, method="asymptotic").statistic
    return taus


def _order(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    """Ranks of every row, positions first; small floats halve the memory traffic."""
    ranks = stats.rankdata(np.nan_to_num(rows), method="dense", axis=1)
    return np.ascontiguousarray(ranks.T, dtype=np.float32)


def _count_pairs(
    a: NDArray[np.float32], b: NDArray[np.float32], *, shared: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    n, n_batch = a.shape
    difference, untied_x, untied_y = (np.zeros(n_batch) for _ in range(3))
    for i in range(n - 1):
        sign_x = np.sign(a[i + 1 :] - a[i])
        sign_y = np.sign(b[i + 1 :] - b[i])
        # Sums of at most n signs are exact in single precision.
        if shared:
            difference += sign_y[:, 0] @ sign_x
        else:
            difference += np.einsum("jb,jb->b", sign_x, sign_y)
        untied_x += np.count_nonzero(sign_x, axis=0)
        untied_y += np.count_nonzero(sign_y, axis=0)
    return difference, untied_x, untied_y


def _weigh_pairs(
    a: NDArray[np.float32], b: NDArray[np.float32], w: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    n, n_batch = a.shape
    difference, untied_x, untied_y = (np.zeros(n_batch) for _ in range(3))
    for i in range(n - 1):
        sign_x = np.sign(a[i + 1 :] - a[i])
        sign_y = np.sign(b[i + 1 :] - b[i])
        later = w[i + 1 :]
        difference += w[i] * np.sum(sign_x * sign_y * later, axis=0)
        untied_x += w[i] * np.sum(np.abs(sign_x) * later, axis=0)
        untied_y += w[i] * np.sum(np.abs(sign_y) * later, axis=0)
    return difference, untied_x, untied_y
