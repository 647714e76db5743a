"""The four ways to put a question of direct rating."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wording:
    """One of the four ways to put a question.

    low_at_zero : 0 means the scale's low word; otherwise answers are turned round.
    zero_first : the end at 0 is named before that at 100.
    """

    low_at_zero: bool
    zero_first: bool

    @property
    def slug(self) -> str:
        side = "low-at-0" if self.low_at_zero else "high-at-0"
        return f"{side}-{'0' if self.zero_first else '100'}-first"


WORDINGS = tuple(Wording(low, first) for low in (True, False) for first in (True, False))
