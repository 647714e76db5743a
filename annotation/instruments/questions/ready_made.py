"""The questions that come with the platform: wordings of our own, with sources named in each.

They are kept at what the file says: an edit of one is made in a study, after it was put in.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from django.db import transaction

from annotation.instruments.questions.library_content import check_content, find_lead

FILE = Path(__file__).with_name("ready_made.json")
LANGUAGE = "en"


def list_ready_made() -> list[dict[str, Any]]:
    """Return the entries of the file: slug, name, source, kind and content."""
    entries: list[dict[str, Any]] = json.loads(FILE.read_text(encoding="utf-8"))
    return entries


def seed_questions(*, using: str = "default") -> None:
    """Make the ready-made questions of the library those of the file. Idempotent."""
    from annotation.models import LibraryQuestion

    rows = LibraryQuestion.objects.using(using)
    with transaction.atomic(using=using):
        entries = {entry["slug"]: entry for entry in list_ready_made()}
        rows.exclude(slug="").exclude(slug__in=entries).delete()
        for slug, entry in entries.items():
            check_content(entry["kind"], entry["content"])
            rows.update_or_create(
                slug=slug,
                defaults={
                    "name": entry["name"],
                    "source": entry["source"],
                    "kind": entry["kind"],
                    "content": entry["content"],
                    "language": LANGUAGE,
                    "asks": find_lead(entry["kind"], entry["content"], LANGUAGE),
                    "is_shared": True,
                },
            )


def seed_after_migrate(*, using: str, **_: Any) -> None:
    """Signal handler: a migrated database has the questions without a further step."""
    seed_questions(using=using)
