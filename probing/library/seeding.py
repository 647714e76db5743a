"""Puts the published templates and prompts into the library; never overwrites an edit."""

from __future__ import annotations

from typing import Any

from django.db import transaction


def seed_templates(*, using: str = "default") -> None:
    """Create the templates and template sets that are missing by slug. Idempotent."""
    from probing.measures.template_library import TEMPLATE_SETS, TEMPLATES
    from probing.models import Template, TemplateSet

    with transaction.atomic(using=using):
        Template.objects.using(using).bulk_create(
            [Template(slug=entry.slug, text=entry.text) for entry in TEMPLATES],
            ignore_conflicts=True,
        )
        for entry in TEMPLATE_SETS:
            chosen, created = TemplateSet.objects.using(using).get_or_create(
                slug=entry.slug, defaults={"title": entry.title}
            )
            if created:
                chosen.templates.set(
                    Template.objects.using(using).filter(slug__in=entry.template_slugs)
                )


def seed_prompts(*, using: str = "default") -> None:
    """Create the prompts of Deas et al. (2023) that are missing by slug. Idempotent."""
    from probing.measures.prompt_library import PROMPTS
    from probing.models import Prompt

    Prompt.objects.using(using).bulk_create(
        [
            Prompt(slug=entry.slug, text=entry.text, variety_names=dict(entry.variety_names))
            for entry in PROMPTS
        ],
        ignore_conflicts=True,
    )


def seed_after_migrate(*, using: str, **_: Any) -> None:
    """Signal handler: a migrated database has its library without a further step."""
    seed_templates(using=using)
    seed_prompts(using=using)
