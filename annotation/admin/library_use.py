"""Library entries that studies, runs or reports use are not deleted; a page says which."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from annotation.library.uses import find_uses

ENTRIES_SHOWN = 3
USES_SHOWN = 30


class KeptWhileUsed:
    """For model admins of entries with a slug."""

    delete_confirmation_template = "admin/annotation/library/delete.html"
    delete_selected_confirmation_template = "admin/annotation/library/delete_selected.html"

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        to_delete, counts, needed, protected = super().get_deleted_objects(objs, request)  # type: ignore[misc]
        entries = list(objs)
        uses = find_uses(
            self.model,  # type: ignore[attr-defined]
            [entry.slug for entry in entries],
            request.user,
        )
        if uses:
            one = len(entries) == 1
            said = [what if one else f"{what}: {_list(slugs)}" for what, slugs in uses.items()]
            more = len(said) - USES_SHOWN
            protected = said[:USES_SHOWN] + (
                [_("and %(n)d more") % {"n": more}] if more > 0 else []
            )
        return to_delete, counts, needed, protected


def _list(slugs: list[str]) -> str:
    shown = ", ".join(f"“{slug}”" for slug in slugs[:ENTRIES_SHOWN])
    more = len(slugs) - ENTRIES_SHOWN
    return f"{shown} {_('and %(n)d more') % {'n': more}}" if more > 0 else shown
