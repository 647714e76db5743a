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


def middle(draws: ArrayLike, level: float) -> tuple[float, float]:
    """Return the ends of the middle share of the draws; NaN are left out."""
    low, high = np.nanquantile(np.asarray(draws, dtype=float), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
