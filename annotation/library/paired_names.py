"""Paired groups: two identities in one phrase, such as “Asian teenager”.

Grammar (Cao et al. 2022, §5.2): the first group stands as a modifier before the second, which
keeps its noun or gets “person”: “Asian teenager”, and turned round “teenage Asian person”. A group
without a modifier, such as “doctor”, never comes first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Protocol

#: Between the slugs of the components; no slug of a single group holds it.
SEPARATOR = "--"


class Component(Protocol):
    """A single group as it enters a pair."""

    slug: str
    singular: str
    plural: str
    modifier: str
    domains: Sequence[str]


@dataclass(frozen=True)
class Pair:
    """A paired group and its surface forms; `domains` are those of the components, in order."""

    slug: str
    first: str
    second: str
    singular: str
    plural: str
    plural_capitalised: str
    domains: tuple[str, ...]


def pair_groups(
    groups: Iterable[Component], *, excluded: Collection[frozenset[str]] = ()
) -> Iterator[Pair]:
    """Yield every two groups in both orders, as far as grammar and exclusions allow.

    excluded : unordered pairs of slugs
    """
    barred = set(excluded)
    for first, second in permutations(groups, 2):
        if not first.modifier or frozenset((first.slug, second.slug)) in barred:
            continue
        plural = f"{first.modifier} {second.plural}"
        yield Pair(
            slug=f"{first.slug}{SEPARATOR}{second.slug}",
            first=first.slug,
            second=second.slug,
            singular=f"{first.modifier} {second.singular}",
            plural=plural,
            plural_capitalised=plural[0].upper() + plural[1:],
            domains=tuple(dict.fromkeys((*first.domains, *second.domains))),
        )
