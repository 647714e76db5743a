"""Creates the paired groups of a set, as library entries with their components."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from annotation.library.paired_names import Pair, pair_groups
from annotation.models import GroupComponent, GroupExclusion, GroupSet, SocialGroup

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
