"""Resamples of the alignment: whole submissions, and scales for single groups."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.rating_cube import RatingCube
from evaluation.metrics import (
    PrecisionBatch,
    kendall_tau_b_batch,
    precision_at_k_batch,
)


@dataclass(frozen=True)
class Resamples:
    """Draws shared by all groups.

    means : (n_resamples, n_groups, n_scales) human means, NaN = no rating in that resample
    scale_counts : (n_resamples, n_scales) how often every scale was drawn
    """

    means: NDArray[np.float64]
    scale_counts: NDArray[np.float64]

    def group_taus(self, g: int, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n_resamples,) tau of one group over resampled submissions and scales.

        NaN where a resample holds no rating of the group: it is skipped for this group.
        """
        return kendall_tau_b_batch(self.means[:, g], scores, self.scale_counts)

    def group_precision(
        self, g: int, scores: NDArray[np.float64], *, k: int, centre: float
    ) -> PrecisionBatch:
        """Precision at k of one group over resampled submissions and scales."""
        return precision_at_k_batch(scores, self.means[:, g], self.scale_counts, k=k, centre=centre)


def draw_resamples(
    cube: RatingCube, n_resamples: int, *, people: np.random.Generator, scales: np.random.Generator
) -> Resamples:
    """Return human means and counts of scales for every resample.

    A resample draws as many submissions as there are, with replacement; a submission brings all
    its ratings along (people differ in how they use the lines, so ratings of one person are not
    independent). The number of raters of a group varies over resamples.
    """
    n, n_scales = len(cube.submissions), len(cube.scales)
    drawn = people.multinomial(n, np.full(n, 1 / n), size=n_resamples).astype(float)
    flat = cube.flat()
    rated = (~np.isnan(flat)).astype(float)
    # Whole ratings sum without rounding, so that equal means stay exact ties.
    count = drawn @ rated
    total = drawn @ np.nan_to_num(flat)
    means = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
    counts = scales.multinomial(n_scales, np.full(n_scales, 1 / n_scales), size=n_resamples)
    shape = (n_resamples, len(cube.groups), n_scales)
    return Resamples(means.reshape(shape), counts.astype(float))


def mean_over_groups(rows: list[NDArray[np.float64]], n_resamples: int) -> NDArray[np.float64]:
    """(n_resamples,) mean over the groups that have a value in that resample, NaN if none."""
    if not rows:
        return np.full(n_resamples, np.nan)
    table = np.vstack(rows)
    found = ~np.isnan(table)
    count = found.sum(axis=0)
    total = np.where(found, table, 0.0).sum(axis=0)
    return np.divide(total, count, out=np.full(n_resamples, np.nan), where=count > 0)
