"""Resamples of the alignment: whole submissions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.rating_cube import RatingCube
from evaluation.analyses.weighted_means import weighted_means
from evaluation.metrics import precision_at_k
from evaluation.metrics.known_values import mean_of_known
from probing.measures.streams import named_stream


def draw_resamples(cube: RatingCube, options: AlignmentOptions) -> NDArray[np.float64]:
    """(n_resamples, n_groups, n_scales) human means, NaN = no rating in that resample."""
    return resampled_means(cube, draw_people(cube, options))


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


def resampled_means(cube: RatingCube, weights: NDArray[Any]) -> NDArray[np.float64]:
    """(n_draws, n_groups, n_scales) mean ratings for every row of weights, NaN = no rating.

    weights : (n_draws, n_submissions)
    """
    means = weighted_means(cube.flat(), weights)
    return means.reshape(len(weights), len(cube.groups), len(cube.scales))


def mean_over_groups(rows: list[NDArray[np.float64]], n_resamples: int) -> NDArray[np.float64]:
    """(n_resamples,) mean over the groups that have a value in that resample, NaN if none.

    rows : (n_resamples,) values of every group
    """
    if not rows:
        return np.full(n_resamples, np.nan)
    return mean_of_known(np.vstack(rows), axis=0)


def mean_precision(
    scores: NDArray[np.float64], human: NDArray[np.float64], options: AlignmentOptions
) -> float:
    """Return the mean over groups of precision at k, NaN where no group has one.

    scores, human : (n_groups, n_scales)
    """
    found = [
        precision_at_k(*rows, k=options.k, center=options.center).mean
        for rows in zip(scores, human, strict=True)
    ]
    return float(np.nanmean(found)) if not np.isnan(found).all() else np.nan
