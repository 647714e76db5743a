"""The questions that an alignment answers about tau and precision at k."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses import true_precision as precision
from evaluation.analyses import true_tau as tau
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.tau_answers import Answer, Answers

Array = NDArray[np.float64]


def answer_questions(values: Array, scores: Array, options: AlignmentOptions) -> Answers:
    """Return what tau and precision at k say to each question.

    values : (n_people, n_groups, n_scales) ratings, NaN = not rated
    scores : (n_groups, n_scales), NaN = no score
    """
    found = tau.true_tau(values, scores)
    return Answers(
        reliability=found.reliability,
        noise_free=found.noise_free(options.level),
        generalizing=found.generalizing(options.level),
        observed=found.as_observed(options.level),
        precision=_precision(values, scores, options).generalizing(options.level),
    )


def compare_taus(
    values: tuple[Array, Array], scores: tuple[Array, Array], options: AlignmentOptions
) -> tuple[Answer, Answer, Answer]:
    """Return first − second of tau: without noise for these groups and for groups like these, and
    as observed.

    values, scores : of the first and of the second, as in `answer_questions`; only cells count
        that both have
    """
    first, second = (tau.true_tau(*own) for own in _on_common_cells(values, scores))
    return tau.difference(first, second, options.level)


def compare_precisions(
    values: tuple[Array, Array], scores: tuple[Array, Array], options: AlignmentOptions
) -> Answer:
    """Return first − second of precision at k without noise, for groups like these."""
    first, second = (_precision(*own, options) for own in _on_common_cells(values, scores))
    return precision.difference(first, second, options.level)


def _precision(values: Array, scores: Array, options: AlignmentOptions) -> precision.TruePrecision:
    return precision.true_precision(values, scores, k=options.k, center=options.center)


def _on_common_cells(
    values: tuple[Array, Array], scores: tuple[Array, Array]
) -> list[tuple[Array, Array]]:
    rated = [(~np.isnan(own)).any(axis=0) for own in values]
    common = np.logical_and.reduce([*rated, *(~np.isnan(own) for own in scores)])
    return [
        (own, np.where(common, model, np.nan)) for own, model in zip(values, scores, strict=True)
    ]
