"""The library: sets of groups and excluded pairs, and what all its pages have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.admin.history import HistoryAdmin
from annotation.admin.library_use import KeptWhileUsed
from annotation.library.paired_groups import create_paired_groups, plan_pairs
from annotation.models import GroupExclusion, GroupSet

#: The pages of groups, as their tabs name them.
GROUP_TABS = (
    ("socialgroup", _("Groups")),
    ("groupset", _("Sets of groups")),
    ("groupexclusion", _("Excluded pairs")),
)


def build_tabs(
    names: Sequence[tuple[str, Any]], app: str, here: str
) -> list[tuple[Any, str, bool]]:
    """Return label, address and whether it is the page at hand, for each tab."""
    return [
        (label, reverse(f"admin:{app}_{name}_changelist"), name == here) for name, label in names
    ]


class LibraryAdmin(ModelAdmin):
    """All staff read the library; edits need the model's permission."""

    class Media:
        css = {"all": ["annotation/library.css"]}

    list_per_page = 100
    list_before_template = "admin/annotation/library/tabs.html"
    #: The model's neighbours, by the names of their pages.
    tab_names: tuple[tuple[str, Any], ...] = ()

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_staff

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_module_permission(request)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # A slug joins people, models and norms: it is given once.
        return ("slug",) if obj else ()

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        tabs = build_tabs(self.tab_names, self.opts.app_label, str(self.opts.model_name))
        return super().changelist_view(request, {"library_tabs": tabs, **(extra_context or {})})


@admin.register(GroupSet)
class GroupSetAdmin(KeptWhileUsed, LibraryAdmin):
    list_display = ("title", "slug", "n_groups")
    search_fields = ("slug", "title")
    fields = ("title", "slug", "groups")
    prepopulated_fields = {"slug": ("title",)}
    filter_horizontal = ("groups",)
    actions = ("pair_groups",)
    tab_names = GROUP_TABS
    change_form_outer_before_template = "admin/annotation/library/set_head.html"

    @admin.action(description=_("Create the paired groups of the chosen sets"), permissions=["add"])
    def pair_groups(self, request: HttpRequest, queryset: QuerySet[GroupSet]) -> None:
        for group_set in queryset:
            self._pair(request, group_set)

    def _pair(self, request: HttpRequest, group_set: GroupSet) -> None:
        try:
            made = create_paired_groups(group_set=group_set)
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
            return
        text = gettext("“%(title)s” holds %(n)d paired groups, %(new)d of them new.")
        found = {"title": made.group_set.title, "n": made.n_groups, "new": made.n_created}
        messages.success(request, text % found)

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return {} if obj else self.prepopulated_fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[GroupSet]:
        return super().get_queryset(request).annotate(n_groups=Count("groups"))

    @display(description=_("groups"), ordering="n_groups")
    def n_groups(self, group_set: Any) -> int:
        return group_set.n_groups

    # --- the button on a set's page ----------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.pair_view)
        return [
            path("<int:pk>/pair/", view, name="annotation_groupset_pair"),
            *super().get_urls(),
        ]

    def pair_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        group_set = get_object_or_404(GroupSet, pk=pk)
        self._pair(request, group_set)
        return redirect("admin:annotation_groupset_change", pk)

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        extra = dict(extra_context or {})
        group_set = self.get_object(request, object_id)
        if group_set is not None and self.has_add_permission(request):
            extra |= {"group_set": group_set, "n_pairs": len(plan_pairs(group_set=group_set))}
        return super().change_view(request, object_id, form_url, extra)


@admin.register(GroupExclusion)
class GroupExclusionAdmin(HistoryAdmin, LibraryAdmin):
    """Groups that are never put together: they do not exist, or say the same twice."""

    list_display = ("both", "reason")
    search_fields = ("first__slug", "second__slug", "reason")
    autocomplete_fields = ("first", "second")
    fields = ("first", "second", "reason")
    tab_names = GROUP_TABS

    def get_queryset(self, request: HttpRequest) -> QuerySet[GroupExclusion]:
        return super().get_queryset(request).select_related("first", "second")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ()

    @display(description=_("groups"), ordering="first__slug")
    def both(self, exclusion: GroupExclusion) -> str:
        return str(exclusion)
