"""The library in the admin: what the pages of entries have in common, here and in other rooms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.admin import ModelAdmin

from annotation.admin.base import HasPages, HasTabs, ReadByStaff
from annotation.exports.downloads import build_attachment
from annotation.imports.import_kind import import_kinds
from annotation.library.library_export import stream_library
from annotation.library.library_kind import LibraryKind
from annotation.library.uses import find_uses
from annotation.researcher.library.file_pages import (
    LibraryExample,
    LibraryExport,
)
from annotation.researcher.pages.page import ResearcherPage

ENTRIES_SHOWN = 3
USES_SHOWN = 30


class LibraryAdmin(HasTabs, HasPages, ReadByStaff, ModelAdmin):
    """All staff read the library; edits need the model's permission."""

    class Media:
        css = {"all": ["annotation/library.css"]}

    list_per_page = 100
    list_before_template = "admin/annotation/library/tabs.html"

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # A slug joins people, models and norms: it is given once.
        return ("slug",) if obj else ()


class LibraryFiles(HasPages):
    """For model admins: pages below the list that import and export a kind of entries."""

    library_kind: ClassVar[LibraryKind]
    pages: ClassVar[Sequence[type[ResearcherPage]]] = (LibraryExport, LibraryExample)
    list_before_template = "admin/annotation/library/tabs.html"
    actions: Any = ("export_selected",)

    @admin.action(description=gettext_lazy("Download as CSV"), permissions=["view"])
    def export_selected(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponseBase:
        """Send the chosen entries, in the columns of an import."""
        kind, slugs = self.library_kind, set(queryset.values_list("slug", flat=True))
        name = f"stereoscope-{kind.name}-{timezone.localdate():%Y-%m-%d}.csv"
        return build_attachment(stream_library(kind, slugs=slugs), name)

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        name = f"admin:{self.opts.app_label}_{self.opts.model_name}"  # type: ignore[attr-defined]
        kind = import_kinds()[self.library_kind.name]
        files = {
            "library_kind": self.library_kind,
            "import_address": f"{reverse('admin:probing_run_import')}?kind={kind.name}"
            if kind.is_open_to(request.user)
            else "",
            "export_address": reverse(f"{name}_export"),
        }
        return super().changelist_view(request, {**files, **(extra_context or {})})  # type: ignore[misc]


class CheckedEntries:
    """For model admins with a `CheckedForm`: whoever may edit can take words as written."""

    def may_edit(self, request: HttpRequest, obj: Any) -> bool:
        if obj is None:
            return self.has_add_permission(request)  # type: ignore[attr-defined]
        return self.has_change_permission(request, obj)  # type: ignore[attr-defined]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)  # type: ignore[misc]
        form.tell_remarks(request)


class KeptWhileUsed:
    """For model admins of entries with a slug: what studies, runs or reports use is not deleted."""

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
