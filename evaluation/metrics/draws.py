"""Resamples and placebos: how often units are drawn, and where a value lies among draws."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

# Sums in another order must not turn an exact tie into a difference.
TIE = 1e-12


def draw_counts(rng: np.random.Generator, n: int, n_resamples: int) -> Floats:
    """Return how often each of `n` units is in each resample, (n_resamples, n)."""
    if n == 0:
        return np.zeros((n_resamples, 0))
    return rng.multinomial(n, np.full(n, 1 / n), size=n_resamples).astype(float)


def share_as_far(draws: Floats, value: ArrayLike) -> Floats:
    """Return how often draws lie as far from 0 as the value, which counts as one of them.

    draws : (n_draws, …); value : (…) (Phipson and Smyth 2010)
    """
    as_far = np.abs(draws) >= np.abs(value) - TIE
    return np.asarray((1 + as_far.sum(axis=0)) / (1 + len(draws)))


def middle(draws: ArrayLike, level: float) -> tuple[float, float]:
    """Return the ends of the middle share of the draws; NaN are left out."""
    low, high = np.nanquantile(np.asarray(draws, dtype=float), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
