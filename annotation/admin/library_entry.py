"""Groups, their sets and exclusions, and trait pairs, with the history of every edit."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import TabularInline
from unfold.decorators import display

from annotation.admin.base import count_column
from annotation.admin.history import HistoryAdmin
from annotation.admin.library import CheckedEntries, KeptWhileUsed, LibraryAdmin, LibraryFiles
from annotation.library.english_forms import Forms
from annotation.library.group_kind import GroupKind
from annotation.library.paired_groups import create_pairs, pair_chosen, plan_pairs
from annotation.library.trait_kind import TraitKind
from annotation.models import (
    Domain,
    GroupComponent,
    GroupExclusion,
    GroupSet,
    SocialGroup,
    TraitPair,
)
from annotation.researcher.library.entry_form import (
    FORM_FIELDS,
    ComponentFormSet,
    SocialGroupForm,
    TraitPairForm,
)
from annotation.researcher.library.group_pages import (
    GroupForms,
    PairGroups,
    describe_reading,
    pair_groups,
)

#: The pages of groups, as their tabs name them.
GROUP_TABS = (
    ("socialgroup", _("Groups")),
    ("groupset", _("Sets of groups")),
    ("groupexclusion", _("Excluded pairs")),
    ("traitpair", _("Trait scales")),
)


class ComponentInline(TabularInline):
    model = GroupComponent
    formset = ComponentFormSet
    fk_name = "group"
    extra = 0
    max_num = 2
    autocomplete_fields = ("component",)
    verbose_name = _("component")
    verbose_name_plural = _("Components of a paired group")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True


class PairedFilter(admin.SimpleListFilter):
    """Single groups, or the paired ones that were made of them."""

    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("single", _("Single groups")), ("paired", _("Paired groups"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "single":
            return queryset.filter(component_links=None)
        if self.value() == "paired":
            return queryset.exclude(component_links=None)
        return queryset


@admin.register(SocialGroup)
class SocialGroupAdmin(CheckedEntries, KeptWhileUsed, LibraryFiles, HistoryAdmin, LibraryAdmin):
    form = SocialGroupForm
    list_display = ("plural", "singular", "slug", "domain_names")
    list_filter = (PairedFilter, "sets")
    search_fields = ("slug", "singular", "plural")
    inlines = (ComponentInline,)
    actions = ("export_selected", "pair_groups")
    tab_names = GROUP_TABS
    library_kind = GroupKind()
    pages = (*LibraryFiles.pages, GroupForms)

    class Media:
        js = [forms.Script("annotation/group-forms.js", type="module")]

    @display(description=_("domains"))
    def domain_names(self, group: SocialGroup) -> str:
        return ", ".join(str(Domain(name).label) for name in group.domains)

    # --- the form ----------------------------------------------------------------------------

    def get_fields(self, request: HttpRequest, obj: SocialGroup | None = None) -> Any:
        own = ("singular", "plural", "plural_capitalised", "modifier", "reads", "slug", "domains")
        if not self.may_edit(request, obj):
            return own
        may_choose_sets = request.user.has_perm("annotation.change_groupset")
        return (*own, *(("group_sets",) if may_choose_sets else ()), "as_written")

    def get_readonly_fields(self, request: HttpRequest, obj: SocialGroup | None = None) -> Any:
        return (*super().get_readonly_fields(request, obj), "reads")

    @display(description=_("How it reads"))
    def reads(self, group: SocialGroup | None) -> SafeString:
        """Return the forms in sentences; the page's script asks for them anew while one types."""
        given = group or SocialGroup()
        return format_html(
            '<div class="form-check" data-form-check data-address="{}"{} aria-live="polite">'
            "{}</div>",
            reverse("admin:annotation_socialgroup_forms"),
            SafeString("" if given.pk else " data-proposes"),
            describe_reading(Forms(*(getattr(given, name) for name in FORM_FIELDS))),
        )

    @admin.action(description=_("Create the paired groups of the chosen ones"), permissions=["add"])
    def pair_groups(self, request: HttpRequest, queryset: QuerySet[SocialGroup]) -> None:
        pairs = pair_chosen(SocialGroup.objects.filter(pk__in=queryset.values("pk")))
        try:
            n_new = create_pairs(pairs=pairs, title=gettext("Your choice"))
        except ValidationError as error:
            messages.error(request, " ".join(error.messages))
            return
        text = ngettext(
            "%(n)d paired group, %(new)d of them new.",
            "%(n)d paired groups, %(new)d of them new.",
            len(pairs),
        )
        messages.success(request, text % {"n": len(pairs), "new": n_new})


@admin.register(GroupSet)
class GroupSetAdmin(KeptWhileUsed, LibraryAdmin):
    list_display = ("title", "slug", "n_groups")
    search_fields = ("slug", "title")
    fields = ("title", "slug", "groups")
    prepopulated_fields = {"slug": ("title",)}
    filter_horizontal = ("groups",)
    actions = ("pair_groups",)
    tab_names = GROUP_TABS
    pages = (PairGroups,)
    change_form_outer_before_template = "admin/annotation/library/set_head.html"

    @admin.action(description=_("Create the paired groups of the chosen sets"), permissions=["add"])
    def pair_groups(self, request: HttpRequest, queryset: QuerySet[GroupSet]) -> None:
        for group_set in queryset:
            pair_groups(request, group_set)

    def get_prepopulated_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return {} if obj else self.prepopulated_fields

    def get_queryset(self, request: HttpRequest) -> QuerySet[GroupSet]:
        return super().get_queryset(request).annotate(n_groups=Count("groups"))

    n_groups = count_column("n_groups", _("groups"))

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
    fields = ("first", "second", "reason")
    tab_names = GROUP_TABS

    def get_queryset(self, request: HttpRequest) -> QuerySet[GroupExclusion]:
        return super().get_queryset(request).select_related("first", "second")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ()

    @display(description=_("groups"), ordering="first__slug")
    def both(self, exclusion: GroupExclusion) -> str:
        return str(exclusion)


@admin.register(TraitPair)
class TraitPairAdmin(CheckedEntries, KeptWhileUsed, LibraryFiles, HistoryAdmin, LibraryAdmin):
    form = TraitPairForm
    list_display = ("pair", "dimension", "slug", "position")
    list_filter = ("dimension",)
    search_fields = ("slug", "low", "high")
    tab_names = GROUP_TABS
    library_kind = TraitKind()

    @display(description=_("trait pair"), ordering="position")
    def pair(self, trait_pair: TraitPair) -> str:
        return str(trait_pair)

    def get_fields(self, request: HttpRequest, obj: TraitPair | None = None) -> Any:
        own = tuple(TraitPairForm.Meta.fields)
        return (*own, "as_written") if self.may_edit(request, obj) else own
