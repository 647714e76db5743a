"""Adds published templates, prompts and lexicons to the library; never overwrites an edit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.db import models, transaction

#: Of what was made for the library.
_OWN: dict[str, Any] = {"citation": "Made for this platform.", "license": "CC0"}


def _add_missing(entries: Iterable[models.Model], using: str) -> None:
    """Store those whose slug is not taken; all are of one model."""
    rows = list(entries)
    type(rows[0])._default_manager.using(using).bulk_create(rows, ignore_conflicts=True)


def seed_templates(*, using: str = "default") -> None:
    """Create the templates and template sets that are missing by slug. Idempotent."""
    from probing.measures.template_library import TEMPLATE_SETS, TEMPLATES
    from probing.models import Template, TemplateSet

    with transaction.atomic(using=using):
        _add_missing((Template(slug=entry.slug, text=entry.text) for entry in TEMPLATES), using)
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

    _add_missing(
        (
            Prompt(slug=entry.slug, text=entry.text, variety_names=dict(entry.variety_names))
            for entry in PROMPTS
        ),
        using,
    )


def seed_guises(*, using: str = "default") -> None:
    """Create prompts and attributes of matched guise probing, missing by slug. Idempotent."""
    from probing.measures.guise_library import ATTRIBUTE_LISTS, GUISE_PROMPTS
    from probing.models import Prompt, WordList

    _add_missing((Prompt(**asdict(entry)) for entry in GUISE_PROMPTS), using)
    _add_missing((WordList(**entry._asdict()) for entry in ATTRIBUTE_LISTS), using)


def seed_labeled_templates(*, using: str = "default") -> None:
    """Create the lexicons and the sets of labeled templates that are missing by slug."""
    from probing.measures.lexicon_library import LEXICONS, NAME_LEXICON, TEMPLATE_SETS
    from probing.models import GroupLexicon, LabeledTemplateSet

    _add_missing(
        (GroupLexicon(license="CC0", **asdict(entry)) for entry in (*LEXICONS, NAME_LEXICON)),
        using,
    )
    for slug, title, templates in TEMPLATE_SETS:
        LabeledTemplateSet.objects.using(using).get_or_create(
            slug=slug,
            defaults=_OWN | {"title": title, "templates": [asdict(one) for one in templates]},
        )


def seed_class_prompts(*, using: str = "default") -> None:
    """Create wordings that ask for a class, and labeled texts, that are missing by slug."""
    from probing.measures.class_prompt_library import CLASS_PROMPTS, DEMONSTRATION_SET
    from probing.models import LabeledTextSet, Prompt, PromptPurpose

    _add_missing(
        (
            Prompt(slug=entry.slug, text=entry.text, purpose=PromptPurpose.CLASSES)
            for entry in CLASS_PROMPTS
        ),
        using,
    )
    slug, title, texts = DEMONSTRATION_SET
    LabeledTextSet.objects.using(using).get_or_create(
        slug=slug, defaults=_OWN | {"title": title, "texts": [asdict(one) for one in texts]}
    )


def seed_after_migrate(*, using: str, **_: Any) -> None:
    """Signal handler: a migrated database has its library without a further step."""
    seed_templates(using=using)
    seed_prompts(using=using)
    seed_guises(using=using)
    seed_labeled_templates(using=using)
    seed_class_prompts(using=using)
