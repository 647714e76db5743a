"""The library: groups, sets of groups and trait pairs, with the history of every edit."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from simple_history.admin import SimpleHistoryAdmin
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import display

from annotation.admin.instrument_form import LinesField
from annotation.library.paired_groups import create_paired_groups
from annotation.models import (
    Domain,
    GroupComponent,
    GroupExclusion,
    GroupSet,
    SocialGroup,
    TraitPair,
)


class LibraryAdmin(ModelAdmin):
    """All staff read the library; edits need the model's permission."""

    list_per_page = 100

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.is_active and request.user.is_staff

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_module_permission(request)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # A slug joins people, models and norms: it is given once.
        return ("slug",) if obj else ()


class SocialGroupForm(forms.ModelForm):
    domains = forms.MultipleChoiceField(
        label=_("Domains"),
        choices=Domain.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = SocialGroup
        fields = ("slug", "singular", "plural", "plural_capitalised", "modifier", "domains")


class ComponentInline(TabularInline):
    model = GroupComponent
    fk_name = "group"
    extra = 0
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
class SocialGroupAdmin(SimpleHistoryAdmin, LibraryAdmin):
    form = SocialGroupForm
    list_display = ("plural", "singular", "slug", "domain_names")
    list_filter = (PairedFilter, "sets")
    search_fields = ("slug", "singular", "plural")
    inlines = (ComponentInline,)

    @display(description=_("domains"))
    def domain_names(self, group: SocialGroup) -> str:
        return ", ".join(str(Domain(name).label) for name in group.domains)


@admin.register(GroupSet)
class GroupSetAdmin(LibraryAdmin):
    list_display = ("title", "slug", "n_groups")
    search_fields = ("slug", "title")
    filter_horizontal = ("groups",)
    actions = ("pair_groups",)

    @admin.action(description=_("Create the paired groups of the chosen sets"), permissions=["add"])
    def pair_groups(self, request: HttpRequest, queryset: QuerySet[GroupSet]) -> None:
        for group_set in queryset:
            try:
                made = create_paired_groups(group_set=group_set)
            except ValidationError as error:
                messages.error(request, " ".join(error.messages))
                continue
            text = gettext("“%(title)s” holds %(n)d paired groups, %(new)d of them new.")
            found = {"title": made.group_set.title, "n": made.n_groups, "new": made.n_created}
            messages.success(request, text % found)

    def get_queryset(self, request: HttpRequest) -> QuerySet[GroupSet]:
        return super().get_queryset(request).annotate(n_groups=Count("groups"))

    @display(description=_("groups"), ordering="n_groups")
    def n_groups(self, group_set: Any) -> int:
        return group_set.n_groups


@admin.register(GroupExclusion)
class GroupExclusionAdmin(SimpleHistoryAdmin, LibraryAdmin):
    """Groups that are never put together: they do not exist, or say the same twice."""

    list_display = ("both", "reason")
    search_fields = ("first__slug", "second__slug", "reason")
    autocomplete_fields = ("first", "second")
    fields = ("first", "second", "reason")

    def get_queryset(self, request: HttpRequest) -> QuerySet[GroupExclusion]:
        return super().get_queryset(request).select_related("first", "second")

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ()

    @display(description=_("groups"), ordering="first__slug")
    def both(self, exclusion: GroupExclusion) -> str:
        return str(exclusion)


class TraitPairForm(forms.ModelForm):
    low_synonyms = LinesField(label=_("Synonyms of the low pole"), required=False)
    high_synonyms = LinesField(label=_("Synonyms of the high pole"), required=False)

    class Meta:
        model = TraitPair
        fields = (
            "slug",
            "low",
            "high",
            "low_synonyms",
            "high_synonyms",
            "dimension",
            "position",
        )


@admin.register(TraitPair)
class TraitPairAdmin(SimpleHistoryAdmin, LibraryAdmin):
    form = TraitPairForm
    list_display = ("pair", "dimension", "slug", "position")
    list_filter = ("dimension",)
    search_fields = ("slug", "low", "high")

    @display(description=_("trait pair"), ordering="position")
    def pair(self, trait_pair: TraitPair) -> str:
        return str(trait_pair)
