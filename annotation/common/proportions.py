"""A share with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

# 97.5 % point of the standard normal distribution: a two-sided interval of 95 %.
Z_95 = 1.959963984540054


@dataclass(frozen=True)
class Proportion:
    """``count`` of ``n`` with Wilson's 95 % interval; all shares are NaN where ``n`` is 0."""

    count: int
    n: int
    share: float
    low: float
    high: float


def estimate_proportion(count: int, n: int) -> Proportion:
    """Return a share and its interval after Wilson (1927), without continuity correction.

    Raises `ValueError` unless 0 <= ``count`` <= ``n``.
    """
    if not 0 <= count <= n:
        raise ValueError(f"{count} of {n} is no share, expected a count from 0 to {n}.")
    if n == 0:
        return Proportion(0, 0, math.nan, math.nan, math.nan)
    share = count / n
    weight = Z_95**2 / n
    center = (share + weight / 2) / (1 + weight)
    half = Z_95 * math.sqrt(share * (1 - share) / n + weight / (4 * n)) / (1 + weight)
    # At 0 and at n one end is exact; rounding must not push it past the share.
    low = 0.0 if count == 0 else center - half
    high = 1.0 if count == n else center + half
    return Proportion(count, n, share, low, high)
