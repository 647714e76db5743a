"""Means of ratings under many weightings of the people at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Cells at a time, and weights that are widened to decimals at a time. Most people rate few cells:
# whoever rated none of these is passed over, and fifteen thousand people take megabytes.
COLUMNS, ENTRIES = 16, 2**21
# Up to here, sums of whole numbers are exact in single precision, which takes half the time.
EXACT_IN_SINGLE = 2**24


def weighted_means(values: NDArray[np.float64], weights: NDArray[Any]) -> NDArray[np.float64]:
    """(n_draws, n_cells) mean of every cell for every row of weights, NaN = no rating.

    values : (n_people, n_cells), NaN = not rated
    weights : (n_draws, n_people) of whole numbers, such as counts or truth values
    """
    means = np.full((len(weights), values.shape[1]), np.nan)
    for column in range(0, values.shape[1], COLUMNS):
        cells = values[:, column : column + COLUMNS]
        raters = np.flatnonzero(~np.isnan(cells).all(axis=1))
        rated = ~np.isnan(cells[raters])
        # Whole ratings sum without rounding, so that equal means stay exact ties.
        summands = np.hstack([rated, np.nan_to_num(cells[raters])])
        drawn = np.take(weights, raters, axis=1)
        kind = _precision(summands, drawn)
        summands = summands.astype(kind)
        rows = max(1, ENTRIES // max(1, len(raters)))
        for row in range(0, len(weights), rows):
            count, total = np.hsplit(drawn[row : row + rows].astype(kind) @ summands, 2)
            found = means[row : row + rows, column : column + COLUMNS]
            np.divide(total, count, out=found, where=count > 0, dtype=float)
    return means


def _precision(summands: NDArray[np.float64], weights: NDArray[Any]) -> type[np.floating[Any]]:
    """Return the precision in which every weighted sum is exact, or the double one."""
    if not weights.size or weights.dtype.kind not in "bu" or (summands != np.rint(summands)).any():
        return np.float64
    largest = float(weights.max()) * float(summands.sum(axis=0).max())
    return np.float32 if largest <= EXACT_IN_SINGLE else np.float64
