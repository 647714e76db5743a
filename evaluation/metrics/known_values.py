"""Quotients, means and spreads of the values that are known, where NaN marks a missing one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def quotient(numerator: ArrayLike, denominator: Any) -> Floats:
    """Return the quotient, NaN where the denominator is not above 0."""
    shape = np.broadcast_shapes(np.shape(numerator), np.shape(denominator))
    return np.divide(numerator, denominator, out=np.full(shape, np.nan), where=denominator > 0)


def mean_of_known(values: Floats, axis: int) -> Floats:
    """Return the mean along an axis, NaN where no value is known."""
    there = ~np.isnan(values)
    return quotient(np.where(there, values, 0.0).sum(axis=axis), there.sum(axis=axis))


def weighted_mean_of_known(values: Floats, weights: Floats) -> Floats:
    """Return means over rows for every row of weights, (n, n_columns), NaN without weight.

    values : (n_rows, n_columns), NaN = missing; weights : (n, n_rows)
    """
    there = (~np.isnan(values)).astype(float)
    return quotient(weights @ np.nan_to_num(values), weights @ there)


def sd_of_known(values: ArrayLike) -> float:
    """Return the standard deviation (ddof 1), NaN with fewer than two known values."""
    known = np.asarray(values, dtype=float)
    known = known[~np.isnan(known)]
    return float(known.std(ddof=1)) if known.size > 1 else float("nan")
