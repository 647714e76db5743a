"""Every page of researchers that can be looked at, from the addresses that the admin knows.

Nobody keeps a list: a page that is added is measured and scanned with the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

#: Names that are no pages to look at: they answer a script, delete, or only lead on.
LEFT_OUT = ("autocomplete", "jsi18n", "_delete", "_view_on_site", "app_list", "logout")
#: The route's argument that says which row a page is about.
KEYS = ("pk", "object_id")


def list_pages(rows: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and address of every page.

    rows : by the name of a model, such as “study”, the key of the row that its pages show; pages of
        rows of other models, and those with further arguments, are left out
    """
    from django.contrib import admin
    from django.urls import reverse

    yield "index", reverse("admin:index")
    yield "health", reverse("health")
    yield "reproductions", reverse("reproductions")
    yield "reproduction", reverse("reproduction", args=["deas2023", "table-3"])
    for model, model_admin in admin.site._registry.items():
        model_name = str(model._meta.model_name)
        for pattern in model_admin.get_urls():
            name, arguments = str(pattern.name or ""), list(pattern.pattern.converters)
            if not name or any(part in name for part in LEFT_OUT):
                continue
            if not arguments:
                yield name, reverse(f"admin:{name}")
            elif len(arguments) == 1 and arguments[0] in KEYS and model_name in rows:
                yield name, reverse(f"admin:{name}", args=[rows[model_name]])
