"""The noise ceiling: how well half of the people agree with the other half."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.alignment_result import NoiseCeiling
from evaluation.analyses.weighted_means import weighted_means
from evaluation.metrics import UndefinedReason, kendall_tau_b_batch


def random_halves(n: int, n_splits: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return (n_splits, n): True for the ⌊n/2⌋ people of the first half of every split."""
    first = np.zeros((n_splits, n), dtype=bool)
    first[:, : n // 2] = True
    return rng.permuted(first, axis=1)


def split_half_taus(values: NDArray[np.float64], halves: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return tau-b between the mean profiles of the two halves, for every split.

    values : (n_people, n_cells), NaN = not rated
    halves : (n_splits, n_people), True = first half

    returns : (n_splits,), NaN where fewer than three cells are rated in both halves or a
    profile is flat.
    """
    first, second = weighted_means(values, halves), weighted_means(values, ~halves)
    taus = kendall_tau_b_batch(first, second)
    shared = (~np.isnan(first) & ~np.isnan(second)).sum(axis=1)
    return np.where(shared >= 3, taus, np.nan)


def noise_ceiling(
    values: NDArray[np.float64], *, n_splits: int, share: float, rng: np.random.Generator
) -> NoiseCeiling:
    """Return the mean and the central band of tau between random halves of the people.

    values : (n_people, n_cells), 0 to 100, NaN = not rated; whoever rated none of the cells is
        left out before the halves are drawn
    share : central share of the splits between low and high, 0 to 1

    It says how well ten raters agree with ten others where there are twenty; a model may pass
    it. Fewer than two people give NaN and a reason.
    """
    raters = ~np.isnan(values).all(axis=1) if values.size else np.zeros(len(values), dtype=bool)
    people = values if raters.all() else values[raters]
    n = people.shape[0]
    if n == 0:
        return no_ceiling(UndefinedReason.NO_RATINGS)
    if n == 1:
        return no_ceiling(UndefinedReason.ONE_RATER)
    if n_splits == 0:
        return no_ceiling(UndefinedReason.NOT_REQUESTED)
    taus = split_half_taus(people, random_halves(n, n_splits, rng))
    found = taus[~np.isnan(taus)]
    skipped = n_splits - found.size
    if found.size == 0 or found.size < n_splits / 2:
        return no_ceiling(UndefinedReason.FEW_SPLITS, n_skipped=skipped)
    low, high = np.quantile(found, [(1 - share) / 2, (1 + share) / 2])
    return NoiseCeiling(
        mean=float(found.mean()),
        low=float(low),
        high=float(high),
        n_first=n // 2,
        n_second=n - n // 2,
        n_splits=int(found.size),
        n_skipped=int(skipped),
    )


def no_ceiling(reason: str, *, n_skipped: int = 0) -> NoiseCeiling:
    """Return an undefined ceiling with its reason."""
    return NoiseCeiling(np.nan, np.nan, np.nan, n_skipped=n_skipped, reason=reason)
