"""Numbers that tell careless answers from careful ones. No Django, no database.

Sources: [1] Leiner, D. J. (2019). Too fast, too straight, too weird: non-reactive indicators for
meaningless data in internet surveys. Survey Research Methods 13(3). [2] Johnson, J. A. (2005).
Ascertaining the validity of individual protocols from web-based personality inventories. Journal of
Research in Personality 39 (longest run of one answer). [3] Dunn, A. M. et al. (2018).
Intra-individual response variability as an indicator of insufficient effort responding. Journal of
Business and Psychology 33 (spread).
"""

from __future__ import annotations

import math
import statistics
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

# One page counts at most three times as fast as usual, so that no single page decides ([1]).
FASTEST_FACTOR = 3.0
# Below this many people a page's median says nothing about a single one.
FEWEST_PEOPLE = 10
# Below this many pages a mean over pages says nothing about a person.
FEWEST_PAGES = 3
# A page with fewer lines than this can be straight by chance.
FEWEST_LINES = 4


@dataclass(frozen=True)
class SpeedIndex:
    """How many times as fast as usual somebody was: 1 is usual; NaN without a page to compare."""

    index: float
    n_pages: int


@dataclass(frozen=True)
class Straightness:
    """``same`` of ``n_lines`` lines lie at ``place``; ``run`` of them in a row, ``spread`` apart.

    ``spread`` is the standard deviation of all lines of the page in points, with n as divisor.
    """

    n_lines: int
    same: int
    place: float
    run: int
    spread: float

    @property
    def share(self) -> float:
        return self.same / self.n_lines


def find_page_medians(times: Iterable[tuple[Key, float]]) -> dict[Key, float]:
    """Return each page's median time in seconds, where enough people have passed it."""
    by_page: dict[Key, list[float]] = {}
    for page, seconds in times:
        by_page.setdefault(page, []).append(seconds)
    return {
        page: statistics.median(found)
        for page, found in by_page.items()
        if len(found) >= FEWEST_PEOPLE
    }


def measure_speed(seconds: Mapping[Key, float], medians: Mapping[Key, float]) -> SpeedIndex:
    """Return the relative speed index of one person ([1]).

    It is the mean over pages of median time over own time, each factor capped at three. Pages
    without a median are left out.
    """
    factors = [
        min(FASTEST_FACTOR, medians[page] / own) if own > 0 else FASTEST_FACTOR
        for page, own in seconds.items()
        if medians.get(page, 0) > 0
    ]
    return SpeedIndex(statistics.fmean(factors) if factors else math.nan, len(factors))


def measure_straightness(places: Sequence[float]) -> Straightness | None:
    """Return how straight a page is, None for a page with fewer than four lines.

    ``places`` are the answers from the top of the page down, as places on the drawn lines (0 left,
    100 right): who drags all handles to one side is constant there, whichever poles stand there.
    """
    if len(places) < FEWEST_LINES:
        return None
    place, same = Counter(places).most_common(1)[0]
    return Straightness(
        n_lines=len(places),
        same=same,
        place=place,
        run=max(len(list(run)) for _value, run in groupby(places)),  # [2]
        spread=_find_spread(places),  # [3]
    )


def _find_spread(places: Sequence[float]) -> float:
    """Return the standard deviation with n as divisor: exact sums, then one root, one division.

    Whole places, which all lines of the survey give, need no fractions: many times as fast.
    """
    n = len(places)
    whole = [int(place) for place in places]
    if whole != list(places):
        return statistics.pstdev(places)
    return math.sqrt(n * sum(place * place for place in whole) - sum(whole) ** 2) / n


def shown_place(value: float, *, flipped: bool | None) -> float:
    """Return a rating's place on the drawn line; its own value where the side is not known."""
    return 100 - value if flipped else value


def normalize_text(text: str) -> str:
    """Return the letters and digits of a text in small letters, words parted by one blank."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(letter if letter.isalnum() else " " for letter in plain)
    return " ".join(kept.split())
