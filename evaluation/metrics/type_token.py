"""Type-token ratio; Wilson's interval of a share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from annotation.common.lazy import stats
from evaluation.metrics.shown import Shown
from evaluation.metrics.undefined import UndefinedReason


@dataclass(frozen=True)
class TypeTokenRatio:
    """Different words as a share of all words; NaN with a reason where there are no words.

    There is no interval: words of a text are no independent draws, and the ratio falls with their
    number.
    """

    value: Annotated[float, Shown("Ratio", 3, style="strong")]
    n_types: Annotated[int, Shown("Different words", 0)]
    n_tokens: Annotated[int, Shown("Words", 0)]
    reason: str = UndefinedReason.NONE


def type_token_ratio(tokens: Sequence[str]) -> TypeTokenRatio:
    """Return the ratio of a text that is cut into words; equal strings are one type."""
    n_types, n = len(set(tokens)), len(tokens)
    if not n:
        return TypeTokenRatio(np.nan, 0, 0, UndefinedReason.NO_WORDS)
    return TypeTokenRatio(n_types / n, n_types, n)


def wilson_interval(p: float, n: int, *, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's (1927) score interval of the share `p` of `n` observations.

    center (p + z²/2n) / (1 + z²/n), half width z sqrt(p(1 − p)/n + z²/4n²) / (1 + z²/n).
    Deas et al. (2023, Table 3) announce 95 % and print 99 %.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p is {p}, expected a share from 0 to 1")
    if n < 1:
        raise ValueError(f"n is {n}, expected a whole number from 1")
    z = float(stats.norm.ppf((1 + level) / 2))
    scale = 1 + z**2 / n
    center = (p + z**2 / (2 * n)) / scale
    half = z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / scale
    return float(max(center - half, 0.0)), float(min(center + half, 1.0))
