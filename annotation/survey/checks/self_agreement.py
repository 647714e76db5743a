"""Check 3: how far somebody's second rating of a group agrees with the first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

MIDDLE = 50.0


@dataclass(frozen=True)
class SelfAgreement:
    """``matching`` of ``n_scales`` scales match; ``share`` is their quotient, NaN without any."""

    matching: int
    n_scales: int

    @property
    def share(self) -> float:
        return self.matching / self.n_scales if self.n_scales else math.nan

    def reaches(self, at_least: float) -> bool:
        """Return whether the share is at least ``at_least``, from 0 to 1."""
        return self.share >= at_least or math.isclose(self.share, at_least)


def measure_self_agreement(
    first: Mapping[str, float], second: Mapping[str, float], *, within: float
) -> SelfAgreement:
    """Return how many scales match between two ratings of one group by one person.

    Two ratings of a scale match if both lie on the same side of 50 or if they differ by at most
    ``within`` points. A rating of exactly 50 lies on no side and can match by distance alone, so
    that 50 and 50 match. Scales that one of the two lacks are left out. Cao et al. (2022), section
    4, ask for a self-accuracy of at least 80 % and do not define a match; this rule is ours.
    """
    shared = first.keys() & second.keys()
    matching = sum(_match(first[scale], second[scale], within) for scale in shared)
    return SelfAgreement(matching=matching, n_scales=len(shared))


def _match(one: float, other: float, within: float) -> bool:
    same_side = (one - MIDDLE) * (other - MIDDLE) > 0
    return same_side or abs(one - other) <= within
