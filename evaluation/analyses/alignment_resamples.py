"""Resamples of the alignment: whole submissions, and scales for single groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.rating_cube import RatingCube
from evaluation.analyses.weighted_means import weighted_means
from evaluation.metrics import (
    PrecisionBatch,
    kendall_tau_b_batch,
    precision_at_k,
    precision_at_k_batch,
)
from probing.measures.streams import named_stream


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


def draw_resamples(cube: RatingCube, options: AlignmentOptions) -> Resamples:
    """Return human means and counts of scales for every resample."""
    return Resamples(
        resampled_means(cube, draw_people(cube, options)), draw_scales(cube.scales, options)
    )


def draw_people(cube: RatingCube, options: AlignmentOptions) -> NDArray[np.uint8]:
    """(n_resamples, n_submissions) how often every submission is drawn in every resample.

    Poisson counts with a stream for each submission (Owen and Eckles 2012), so that whoever is left
    out moves no resample of the others. A submission brings all its ratings along: people differ in
    how they use the lines, so ratings of one person are not independent.
    """
    counts = np.empty((options.n_resamples, len(cube.submissions)), dtype=np.uint8)
    for column, name in zip(counts.T, cube.submissions, strict=True):
        column[:] = named_stream(options.seed, "submission", name).poisson(1, options.n_resamples)
    return counts


def draw_scales(scales: Sequence[str], options: AlignmentOptions) -> NDArray[np.float64]:
    """(n_resamples, n_scales) how often every scale is drawn in every resample."""
    n, rng = len(scales), named_stream(options.seed, "scales")
    return rng.multinomial(n, np.full(n, 1 / n), size=options.n_resamples).astype(float)


def resampled_means(cube: RatingCube, weights: NDArray[Any]) -> NDArray[np.float64]:
    """(n_draws, n_groups, n_scales) mean ratings for every row of weights, NaN = no rating.

    weights : (n_draws, n_submissions)
    """
    means = weighted_means(cube.flat(), weights)
    return means.reshape(len(weights), len(cube.groups), len(cube.scales))


def mean_over_groups(
    rows: list[NDArray[np.float64]],
    n_resamples: int,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.float64]:
    """(n_resamples,) mean over the groups that have a value in that resample, NaN if none.

    rows : (n_resamples,) values of every group
    weights : (n_groups, n_resamples) how often a group counts; once where they are not given
    """
    if not rows:
        return np.full(n_resamples, np.nan)
    table = np.vstack(rows)
    known = np.where(np.isnan(table), 0.0, 1.0 if weights is None else weights)
    count, total = known.sum(axis=0), (known * np.nan_to_num(table)).sum(axis=0)
    return np.divide(total, count, out=np.full(n_resamples, np.nan), where=count > 0)


def mean_precision(
    scores: NDArray[np.float64], human: NDArray[np.float64], options: AlignmentOptions
) -> float:
    """Return the mean over groups of precision at k, NaN where no group has one.

    scores, human : (n_groups, n_scales)
    """
    found = [
        precision_at_k(*rows, k=options.k, centre=options.centre).mean
        for rows in zip(scores, human, strict=True)
    ]
    return float(np.nanmean(found)) if not np.isnan(found).all() else np.nan
