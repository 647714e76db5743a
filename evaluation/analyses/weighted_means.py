"""Means of ratings under many weightings of the people at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Weightings and cells at a time. Most people rate few cells: whoever rated none of these is passed
# over, and what is widened to decimals for fifteen thousand people takes megabytes, not gigabytes.
ROWS, COLUMNS = 256, 16


def weighted_means(values: NDArray[np.float64], weights: NDArray[Any]) -> NDArray[np.float64]:
    """(n_draws, n_cells) mean of every cell for every row of weights, NaN = no rating.

    values : (n_people, n_cells), NaN = not rated
    weights : (n_draws, n_people) of whole numbers, such as counts or truth values
    """
    means = np.full((len(weights), values.shape[1]), np.nan)
    for column in range(0, values.shape[1], COLUMNS):
        cells = values[:, column : column + COLUMNS]
        raters = np.flatnonzero(~np.isnan(cells).all(axis=1))
        # Whole ratings sum without rounding, so that equal means stay exact ties.
        rated, ratings = (~np.isnan(cells[raters])).astype(float), np.nan_to_num(cells[raters])
        for row in range(0, len(weights), ROWS):
            block = weights[row : row + ROWS, raters].astype(float)
            count, total = block @ rated, block @ ratings
            found = means[row : row + ROWS, column : column + COLUMNS]
            np.divide(total, count, out=found, where=count > 0)
    return means
