"""Two-sided p-values from permutations of labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.draws import TIE


def permutation_p_value(estimate: float, draws: ArrayLike) -> float:
    """Return twice the share of permutations at or beyond the estimate on its side, at most 1.

    estimate : the value on the data themselves; NaN gives NaN
    draws : (n,) the values after labels were exchanged at random, NaN = could not be computed;
        skipped

    One side: (1 + number at or beyond) / (n + 1), Davison and Hinkley (1997), eq. 4.11; the smaller
    side is doubled, since the permutations need not scatter round 0. NaN where half of the draws or
    more could not be computed.
    """
    found = _usable(estimate, draws)
    if not found.size:
        return float("nan")
    above, below = (found >= estimate - TIE).sum(), (found <= estimate + TIE).sum()
    return float(min(1.0, 2 * (1 + min(above, below)) / (found.size + 1)))


def _usable(estimate: float, draws: ArrayLike) -> NDArray[np.float64]:
    """Return the draws that could be computed, none where they are too few."""
    drawn = np.asarray(draws, dtype=float)
    if drawn.ndim != 1:
        raise ValueError(f"a list of resampled values is needed, got shape {drawn.shape}")
    found = drawn[~np.isnan(drawn)]
    too_few = np.isnan(estimate) or found.size <= drawn.size / 2
    return found[:0] if too_few else found
