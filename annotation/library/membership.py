"""Puts library entries into the sets that a file names, and makes the sets that are missing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Model

BATCH = 500


def load_memberships(
    through: type[Model], set_field: str, entry_field: str
) -> dict[int, list[str]]:
    """Return entry's key → slugs of its sets, in their order. One query."""
    found: dict[int, list[str]] = {}
    rows: Any = through._default_manager.order_by(f"{set_field}__slug").values_list(
        f"{entry_field}_id", f"{set_field}__slug"
    )
    for entry, slug in rows:
        found.setdefault(entry, []).append(slug)
    return found


def store_memberships(
    *,
    set_model: Any,
    through: Any,
    set_field: str,
    entry_field: str,
    wanted: Mapping[int, Iterable[str]],
) -> None:
    """Make each entry a member of exactly the sets wanted. Runs in a transaction.

    wanted : entry's key → slugs of sets; sets that do not exist are made, named by their slug
    """
    named = {slug for slugs in wanted.values() for slug in slugs}
    known = set(set_model.objects.filter(slug__in=named).values_list("slug", flat=True))
    set_model.objects.bulk_create(
        [set_model(slug=slug, title=title_of(slug)) for slug in sorted(named - known)]
    )
    keys = dict(set_model.objects.filter(slug__in=named).values_list("slug", "pk"))
    links = through.objects.filter(**{f"{entry_field}_id__in": list(wanted)})
    there = {
        (entry, chosen): pk
        for pk, entry, chosen in links.values_list("pk", f"{entry_field}_id", f"{set_field}_id")
    }
    due = {(entry, keys[slug]) for entry, slugs in wanted.items() for slug in slugs}
    through.objects.filter(pk__in=[there[link] for link in there.keys() - due]).delete()
    through.objects.bulk_create(
        [
            through(**{f"{entry_field}_id": entry, f"{set_field}_id": chosen})
            for entry, chosen in sorted(due - there.keys())
        ],
        batch_size=BATCH,
    )


def title_of(slug: str) -> str:
    """Return a set's first title, such as “My own groups” for my-own-groups."""
    words = slug.replace("-", " ").replace("_", " ").strip() or slug
    return words[:1].upper() + words[1:]
