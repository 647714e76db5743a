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
            [
                SocialGroup(
                    slug=entry.slug,
                    singular=entry.singular,
                    plural=entry.plural,
                    plural_capitalised=entry.plural_capitalised,
                    domains=list(entry.domains),
                )
                for entry in (*abc_model.HUMAN_STUDY_GROUPS, *abc_model.OTHER_GROUPS)
            ],
            ignore_conflicts=True,
        )
        TraitPair.objects.using(using).bulk_create(
            [
                TraitPair(
                    slug=entry.slug,
                    low=entry.low,
                    high=entry.high,
                    low_synonyms=list(entry.low_synonyms),
                    high_synonyms=list(entry.high_synonyms),
                    dimension=entry.dimension,
                    position=position,
                )
                for position, entry in enumerate(abc_model.TRAIT_PAIRS, start=1)
            ],
            ignore_conflicts=True,
        )
        slug, title = abc_model.HUMAN_STUDY_SET
        chosen, created = GroupSet.objects.using(using).get_or_create(
            slug=slug, defaults={"title": title}
        )
        if created:
            slugs = [entry.slug for entry in abc_model.HUMAN_STUDY_GROUPS]
            chosen.groups.set(SocialGroup.objects.using(using).filter(slug__in=slugs))


def seed_after_migrate(*, using: str, **_: Any) -> None:
    """Signal handler: a migrated database has its library without a further step."""
    seed_library(using=using)
