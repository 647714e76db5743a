"""Type-token ratio with Wilson's interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from annotation.common.lazy import stats
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.undefined import UndefinedReason


@dataclass(frozen=True)
class TypeTokenRatio:
    """Different words as a share of all words; NaN with a reason where there are no words."""

    value: float
    low: float
    high: float
    n_types: int
    n_tokens: int
    level: float
    reason: str = UndefinedReason.NONE

    @property
    def estimate(self) -> Estimate:
        return Estimate(self.value, self.low, self.high, self.n_tokens, self.reason)


def type_token_ratio(tokens: Sequence[str], *, level: float = 0.95) -> TypeTokenRatio:
    """Return the ratio of a text that is cut into words; equal strings are one type."""
    n_types, n = len(set(tokens)), len(tokens)
    if not n:
        return TypeTokenRatio(np.nan, np.nan, np.nan, 0, 0, level, UndefinedReason.NO_WORDS)
    low, high = wilson_interval(n_types / n, n, level=level)
    return TypeTokenRatio(n_types / n, low, high, n_types, n, level)


def wilson_interval(p: float, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's (1927) score interval of the share `p` of `n` observations.

    centre (p + z²/2n) / (1 + z²/n), half width z sqrt(p(1 − p)/n + z²/4n²) / (1 + z²/n).
    Deas et al. (2023, Table 3) announce 95 % and print 99 %.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}, expected a share from 0 to 1")
    if n < 1:
        raise ValueError(f"n is {n}, expected a whole number from 1")
    z = float(stats.norm.ppf((1 + level) / 2))
    scale = 1 + z**2 / n
    centre = (p + z**2 / (2 * n)) / scale
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / scale
    return float(max(centre - half, 0.0)), float(min(centre + half, 1.0))
