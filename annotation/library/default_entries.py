"""Puts the ABC model's groups and trait pairs into the library; never overwrites an edit."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from annotation.library import abc_model


def seed_library(*, using: str = "default") -> None:
    """Create the library entries that are missing by slug. Idempotent."""
    from annotation.models import GroupSet, SocialGroup, TraitPair

    with transaction.atomic(using=using):
        SocialGroup.objects.using(using).bulk_create(
            [SocialGroup(**entry._asdict()) for entry in abc_model.ALL_GROUPS],
            ignore_conflicts=True,
        )
        TraitPair.objects.using(using).bulk_create(
            [
                TraitPair(slug=entry.slug, position=position, **entry._asdict())
                for position, entry in enumerate(abc_model.TRAIT_PAIRS, start=1)
            ],
            ignore_conflicts=True,
        )
        for entry in abc_model.GROUP_SETS:
            chosen, created = GroupSet.objects.using(using).get_or_create(
                slug=entry.slug, defaults={"title": entry.title}
            )
            if created:
                chosen.groups.set(SocialGroup.objects.using(using).filter(slug__in=entry.groups))
        _seed_exclusions(using)


def _seed_exclusions(using: str) -> None:
    """Create the list of exclusions once; what a researcher takes out of it stays out."""
    from annotation.models import GroupExclusion, SocialGroup

    if GroupExclusion.objects.using(using).exists():
        return
    ids = dict(SocialGroup.objects.using(using).values_list("slug", "pk"))
    GroupExclusion.objects.using(using).bulk_create(
        GroupExclusion(
            first_id=min(ids[first], ids[second]),
            second_id=max(ids[first], ids[second]),
            reason=reason,
        )
        for first, second, reason in abc_model.EXCLUDED_PAIRS
    )


def seed_after_migrate(*, using: str, **_: Any) -> None:
    """Signal handler: a migrated database has its library without a further step."""
    seed_library(using=using)
