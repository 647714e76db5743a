"""Check 3: how far somebody's second rating of a group agrees with the first."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

from annotation.models.instrument import AgreementRule

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


@dataclass(frozen=True)
class RankAgreement:
    """Kendall's tau-b over ``n_scales`` scales, NaN with the ``reason`` where it is undefined."""

    tau: float
    n_scales: int
    reason: str = ""

    def reaches(self, at_least: float) -> bool:
        """Return whether tau is at least ``at_least``, from -1 to 1."""
        return self.tau >= at_least or math.isclose(self.tau, at_least)


def measure_self_agreement(
    first: Mapping[str, float],
    second: Mapping[str, float],
    *,
    within: float,
    rule: str = AgreementRule.SAME_SIDE,
) -> SelfAgreement:
    """Return how many scales match between two ratings of one group by one person.

    By the rule “same side”, two ratings of a scale match if both lie on the same side of 50 or if
    they differ by at most ``within`` points. A rating of exactly 50 lies on no side and can match
    by distance alone, so that 50 and 50 match. By the rule “within”, only the distance counts.
    Scales that one of the two lacks are left out. Cao et al. (2022), section 4, ask for a
    self-accuracy of at least 80 % and do not define a match; these rules are ours.
    """
    shared = first.keys() & second.keys()
    by_side = rule == AgreementRule.SAME_SIDE
    matching = sum(
        abs(first[scale] - second[scale]) <= within
        or (by_side and _same_side(first[scale], second[scale]))
        for scale in shared
    )
    return SelfAgreement(matching=matching, n_scales=len(shared))


def measure_rank_agreement(
    first: Mapping[str, float], second: Mapping[str, float]
) -> RankAgreement:
    """Return Kendall's tau-b between two ratings of one group by one person.

    tau-b = (C - D) / sqrt((n0 - n1) (n0 - n2)) with C concordant and D discordant pairs of scales,
    n0 pairs in all, n1 and n2 pairs that are tied in the first and in the second rating (Kendall
    1945). Undefined for fewer than two scales and where all ratings of one side are equal.
    """
    shared = sorted(first.keys() & second.keys())
    if len(shared) < 2:
        return RankAgreement(math.nan, len(shared), "Fewer than two lines were rated twice.")
    balance = untied_first = untied_second = 0
    for one, other in combinations(shared, 2):
        a, b = _sign(first[one] - first[other]), _sign(second[one] - second[other])
        balance += a * b
        untied_first += abs(a)
        untied_second += abs(b)
    if not untied_first or not untied_second:
        side = "first" if not untied_first else "second"
        return RankAgreement(
            math.nan,
            len(shared),
            f"Kendall's tau is not defined: the {side} rating has all lines at one place.",
        )
    return RankAgreement(balance / math.sqrt(untied_first * untied_second), len(shared))


def _same_side(one: float, other: float) -> bool:
    return (one - MIDDLE) * (other - MIDDLE) > 0


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)
