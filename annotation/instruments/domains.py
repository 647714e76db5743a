"""Groups of which no two share a domain: the largest such set, those that come first preferred."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from typing import TypeVar

T = TypeVar("T")


def choose_disjoint(
    candidates: Sequence[T],
    *,
    wanted: int,
    domains_of: Callable[[T], Collection[str]],
    used: Iterable[str] = (),
) -> list[T]:
    """Return up to ``wanted`` candidates that share no domain with one another or with ``used``.

    As many as possible; among sets of that size the one that takes earlier candidates. A candidate
    of several domains uses up all of them, one without a domain none.
    """
    bits: dict[str, int] = {}

    def mask_of(domains: Iterable[str]) -> int:
        mask = 0
        for domain in domains:
            mask |= 1 << bits.setdefault(domain, len(bits))
        return mask

    spent = mask_of(used)
    usable: list[tuple[T, int]] = []
    seen = Counter[int]()
    for candidate in candidates:
        mask = mask_of(domains_of(candidate))
        # Of several with the same domains only the first can be taken, of those without a domain
        # only the first ones.
        seen[mask] += 1
        if not mask & spent and seen[mask] <= (1 if mask else wanted):
            usable.append((candidate, mask))

    @cache
    def most_from(start: int, spent: int) -> int:
        """Return how many of the candidates from ``start`` on can be taken together."""
        if start == len(usable):
            return 0
        mask = usable[start][1]
        without = most_from(start + 1, spent) if mask else 0
        return without if mask & spent else max(without, 1 + most_from(start + 1, spent | mask))

    missing = min(wanted, most_from(0, spent))
    chosen: list[T] = []
    for index, (candidate, mask) in enumerate(usable):
        if not missing:
            break
        if not mask & spent and 1 + most_from(index + 1, spent | mask) >= missing:
            chosen.append(candidate)
            spent |= mask
            missing -= 1
    return chosen
