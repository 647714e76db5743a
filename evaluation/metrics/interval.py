"""Intervals from resamples, corrected for the bias that resampling itself adds.

Resampling raters adds noise to the human means a second time, so resampled rank correlations
lie below the estimate. Two corrections are used.

*Bias-corrected percentile* (Efron 1981) shifts the percentiles by the median bias z0. It suits
an interval that is wide beside the bias: one group, whose scales are resampled as well.

*Recentered percentile* moves the resamples so that their mean falls on the estimate. It suits an
interval that is narrow beside the bias: all cells pooled, with submissions resampled alone.
There z0 reaches 1.5 to 3 and the bias-corrected percentile would collapse onto the largest
resample. What it covers is the value that studies of this size have on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotation.common.lazy import stats
from evaluation.metrics.shown import Shown
from evaluation.metrics.undefined import UndefinedReason

BIAS_CORRECTED = "bias-corrected percentile"
RECENTERED = "recentered percentile"
UNBOUNDED = (-np.inf, np.inf)

# From one standard deviation of median bias on, the corrected percentile (z = 2 · 1 + 1.96) is
# the 99.996th, which 2,000 resamples cannot tell from their largest value.
LARGEST_MEDIAN_BIAS = 1.0


@dataclass(frozen=True)
class Interval:
    """An interval from resamples.

    low, high : in the unit of the estimate, NaN where undefined
    level : the intended coverage, 0 to 1
    method : which correction was used
    n_resamples : resamples that the interval rests on
    n_skipped : resamples that could not be computed
    reason : why there is no interval, empty otherwise
    """

    low: float
    high: float
    level: float
    method: Annotated[str, Shown(name="interval_method")] = ""
    n_resamples: int = 0
    n_skipped: int = 0
    reason: Annotated[str, Shown(name="interval_reason")] = UndefinedReason.NONE


def no_interval(reason: str, *, level: float = 0.95, n_skipped: int = 0) -> Interval:
    """Return an undefined interval with its reason."""
    return Interval(np.nan, np.nan, level, n_skipped=n_skipped, reason=reason)


def bias_corrected_interval(
    estimate: float,
    resamples: ArrayLike,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = UNBOUNDED,
) -> Interval:
    """Return the bias-corrected percentile interval of resampled estimates.

    estimate : the value on the data themselves
    resamples : (n,), NaN = could not be computed; skipped and counted
    level : coverage, 0 to 1
    bounds : the range of the quantity; only the fall-back below needs it

    z0 = Φ⁻¹(share of resamples below the estimate, ties counting half); the limits are the
    percentiles Φ(2 z0 ± z). Efron and Tibshirani (1993) eq. 14.9–14.10 with acceleration 0.
    Where |z0| exceeds 1 the recentered percentile interval is returned, and says so in `method`.
    NaN with a reason where the estimate is NaN or half of the resamples are.
    """
    values, undefined = _usable(estimate, resamples, level)
    if undefined is not None:
        return undefined
    n = values.size
    z0 = float(stats.norm.ppf(_share_below(values, estimate)))
    if not abs(z0) <= LARGEST_MEDIAN_BIAS:
        return recentered_interval(estimate, resamples, level=level, bounds=bounds)
    z = float(stats.norm.ppf((1 + level) / 2))
    low, high = (float(np.quantile(values, stats.norm.cdf(2 * z0 + end))) for end in (-z, z))
    skipped = int(np.size(resamples)) - n
    return Interval(low, high, level, BIAS_CORRECTED, n, skipped)


def recentered_interval(
    estimate: float,
    resamples: ArrayLike,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = UNBOUNDED,
) -> Interval:
    """Return the percentile interval of the resamples after moving their mean to the estimate.

    Arguments as for `bias_corrected_interval`. The limits are cut at `bounds`. Where nearly all
    resamples are equal, moving them passes the estimate; the interval then begins or ends with it.
    """
    values, undefined = _usable(estimate, resamples, level)
    if undefined is not None:
        return undefined
    limits = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    low, high = np.clip(limits + (estimate - values.mean()), *bounds)
    low, high = min(float(low), estimate), max(float(high), estimate)
    skipped = int(np.size(resamples)) - values.size
    return Interval(low, high, level, RECENTERED, values.size, skipped)


def _share_below(values: NDArray[np.float64], bound: float) -> float:
    """Return the share of values below a bound, ties counting half."""
    return float(np.mean(values < bound) + np.mean(values == bound) / 2)


def _usable(
    estimate: float, resamples: ArrayLike, level: float
) -> tuple[NDArray[np.float64], Interval | None]:
    if not 0 < level < 1:
        raise ValueError(f"level is {level}, expected a share between 0 and 1")
    drawn = np.asarray(resamples, dtype=float)
    if drawn.ndim != 1:
        raise ValueError(f"a list of resampled values is needed, got shape {drawn.shape}")
    values = drawn[~np.isnan(drawn)]
    skipped = drawn.size - values.size
    if np.isnan(estimate):
        return values, no_interval(UndefinedReason.NO_ESTIMATE, level=level, n_skipped=skipped)
    if values.size == 0 or values.size < drawn.size / 2:
        return values, no_interval(UndefinedReason.FEW_RESAMPLES, level=level, n_skipped=skipped)
    return values, None
