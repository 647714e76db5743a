"""Paired groups: two identities in one phrase, such as “Asian teenager”, and their entries."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Protocol

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.models import GroupComponent, GroupExclusion, GroupSet, SocialGroup

# --- Paired groups: two identities in one phrase, such as “Asian teenager”
#
# Grammar (Cao et al. 2022, §5.2): the first group stands as a modifier before the second, which
# keeps its noun or gets “person”: “Asian teenager”, and turned round “teenage Asian person”. A
# group without a modifier, such as “doctor”, never comes first.

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


# --- Library entries

BATCH = 500


@dataclass(frozen=True)
class PairedSet:
    """A set of paired groups, and how many of its entries are new."""

    group_set: GroupSet
    n_groups: int
    n_created: int


def plan_pairs(*, group_set: GroupSet) -> list[Pair]:
    """Return the paired groups that the single groups of a set allow. Two queries."""
    return pair_chosen(group_set.groups.all())


def pair_chosen(groups: QuerySet[SocialGroup]) -> list[Pair]:
    """Return the paired groups that single groups among these allow. Two queries."""
    excluded = {
        frozenset(pair)
        for pair in GroupExclusion.objects.values_list("first__slug", "second__slug")
    }
    singles = groups.filter(component_links=None).order_by("slug")
    return list(pair_groups(singles, excluded=excluded))


@transaction.atomic
def create_paired_groups(*, group_set: GroupSet) -> PairedSet:
    """Create what is missing of the set's paired groups, and a set that holds them all.

    The same set a second time follows the groups and exclusions as they are now: the set of
    pairs is renewed, entries that exist already keep their edits. Raises ValidationError where
    the set allows no pair.
    """
    pairs = plan_pairs(group_set=group_set)
    n_created = create_pairs(pairs=pairs, title=group_set.title)
    found, _created = GroupSet.objects.get_or_create(
        slug=f"{group_set.slug}-paired"[:80],
        defaults={"title": _("Paired groups of: %(title)s") % {"title": group_set.title[:130]}},
    )
    found.groups.set(SocialGroup.objects.filter(slug__in=[pair.slug for pair in pairs]))
    return PairedSet(group_set=found, n_groups=len(pairs), n_created=n_created)


@transaction.atomic
def create_pairs(*, pairs: Sequence[Pair], title: str) -> int:
    """Create the paired groups that are missing; return how many they are.

    title : of what was paired, for the message

    Raises ValidationError where there is none to create.
    """
    if not pairs:
        raise ValidationError(
            _(
                "“%(title)s” allows no paired group. It needs two groups, one of them with a "
                "modifier."
            )
            % {"title": title}
        )
    known = set(SocialGroup.objects.values_list("slug", flat=True))
    new = [pair for pair in pairs if pair.slug not in known]
    _create(new)
    return len(new)


def _create(pairs: Sequence[Pair]) -> None:
    SocialGroup.objects.bulk_create(
        [
            SocialGroup(
                slug=pair.slug,
                singular=pair.singular,
                plural=pair.plural,
                plural_capitalised=pair.plural_capitalised,
                domains=list(pair.domains),
            )
            for pair in pairs
        ],
        batch_size=BATCH,
    )
    slugs = {slug for pair in pairs for slug in (pair.slug, pair.first, pair.second)}
    ids = dict(SocialGroup.objects.filter(slug__in=slugs).values_list("slug", "pk"))
    GroupComponent.objects.bulk_create(
        [
            GroupComponent(group_id=ids[pair.slug], component_id=ids[component], position=position)
            for pair in pairs
            for position, component in enumerate((pair.first, pair.second), start=1)
        ],
        batch_size=BATCH,
    )
