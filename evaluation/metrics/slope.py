"""Slope of a straight line with an interval that allows for unequal spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from annotation.common.lazy import stats
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.undefined import UndefinedReason

#: Fewest units for each parameter of the line; with fewer the interval covers too seldom.
UNITS_PER_PARAMETER = 3


@dataclass(frozen=True)
class Slope:
    """Change of y for one unit of x.

    estimate : slope and interval in units of y per unit of x; n = units that count
    statistic, df, p_value : of the two-tailed t-test of a slope of 0, over the same standard error
        as the interval; NaN where there is none
    """

    estimate: Estimate
    statistic: float = np.nan
    df: float = np.nan
    p_value: float = np.nan


def robust_slope(
    y: ArrayLike, x: ArrayLike, covariates: ArrayLike | None = None, *, level: float = 0.95
) -> Slope:
    """Return the least-squares slope of y on x, with an intercept.

    y, x : (n,), NaN = missing; such units are left out
    covariates : (n, n_covariates) that the slope is adjusted for, without NaN
    level : coverage of the interval, 0 to 1

    The standard error is HC3, which needs no equal spread and holds in small samples (MacKinnon
    and White 1985; Long and Ervin 2000); interval and test are by t with n less the number of
    parameters. Undefined, with a reason, for fewer than three units a parameter, for x that does
    not vary beside the covariates, and for y without spread. Raises ValueError for shapes that do
    not fit.
    """
    values, places = np.asarray(y, dtype=float), np.asarray(x, dtype=float)
    if values.ndim != 1 or values.shape != places.shape:
        raise ValueError(f"two lists of one length are needed: {values.shape}, {places.shape}")
    there = ~(np.isnan(values) | np.isnan(places))
    n = int(there.sum())
    others = np.ones((n, 1))
    if covariates is not None:
        others = np.column_stack([others, np.asarray(covariates, dtype=float)[there]])
    values, places = values[there], places[there]
    rank = int(np.linalg.matrix_rank(others)) if n else 0
    if n < UNITS_PER_PARAMETER * (rank + 1):
        return Slope(no_estimate(UndefinedReason.FEW_FOR_SLOPE))
    if np.ptp(values) <= 1e-12 * max(1.0, float(np.abs(values).max())):
        return Slope(no_estimate(UndefinedReason.NO_SPREAD))
    # Frisch and Waugh (1933): the slope is that of what the covariates leave of either list.
    basis = np.linalg.svd(others, full_matrices=False)[0][:, :rank]
    x_left, y_left = (part - basis @ (basis.T @ part) for part in (places, values))
    spread = float(x_left @ x_left)
    if spread <= 1e-12 * max(1.0, float(places @ places)):
        return Slope(no_estimate(UndefinedReason.NO_SPREAD_OF_X))
    slope = float(x_left @ y_left) / spread
    residuals = y_left - slope * x_left
    leverage = (basis**2).sum(axis=1) + x_left**2 / spread
    # A unit with a covariate of its own (leverage 1) tells nothing of the slope: its x_left is 0.
    free = 1 - leverage > 1e-9
    weighed = np.divide(residuals, 1 - leverage, out=np.zeros(n), where=free)
    error = float(np.sqrt(((x_left * weighed) ** 2).sum())) / spread  # HC3
    if error == 0:
        return Slope(Estimate(slope, n=n, interval_reason=UndefinedReason.NO_SPREAD))
    return _tested(slope, error, n - rank - 1, n, level)


def robust_intercept(y: ArrayLike, covariates: ArrayLike, *, level: float = 0.95) -> Slope:
    """Return the least-squares mean of y where every covariate is 0, with its test of 0.

    y : (n,); covariates : (n, n_covariates); units with a missing value (NaN) are left out

    Interval and test as those of `robust_slope` (HC3, t). Undefined for fewer than three units a
    parameter, and for y without spread.
    """
    values, others = np.asarray(y, dtype=float), np.asarray(covariates, dtype=float)
    there = ~(np.isnan(values) | np.isnan(others).any(axis=1))
    values, n = values[there], int(there.sum())
    design = np.column_stack([np.ones(n), others[there]])
    rank = int(np.linalg.matrix_rank(design)) if n else 0
    if n < UNITS_PER_PARAMETER * max(rank, 1):
        return Slope(no_estimate(UndefinedReason.FEW_FOR_SLOPE))
    inverse = np.linalg.pinv(design)  # (n_parameters, n); constant covariates drop out
    found = inverse @ values
    residuals = values - design @ found
    leverage = np.einsum("ij,ji->i", design, inverse)
    weighed = np.divide(residuals, 1 - leverage, out=np.zeros(n), where=1 - leverage > 1e-9)
    error = float(np.sqrt(((inverse[0] * weighed) ** 2).sum()))  # HC3
    value = float(found[0])
    if error <= 1e-12 * max(1.0, abs(value)):
        return Slope(Estimate(value, n=n, interval_reason=UndefinedReason.NO_SPREAD))
    return _tested(value, error, n - rank, n, level)


def _tested(value: float, error: float, df: int, n: int, level: float) -> Slope:
    """Return the value with interval and test by t over its standard error."""
    reach = float(stats.t.ppf((1 + level) / 2, df)) * error
    return Slope(
        Estimate(value, value - reach, value + reach, n, signature=f"hc3|level:{level:g}"),
        value / error,
        df,
        float(2 * stats.t.sf(abs(value / error), df)),
    )
