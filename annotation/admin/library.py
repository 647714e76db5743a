"""The library: groups, sets of groups and trait pairs, with the history of every edit."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from simple_history.admin import SimpleHistoryAdmin
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import display

from annotation.admin.instrument_form import LinesField
from annotation.models import (
    Domain,
    GroupComponent,
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
        fields = ("slug", "singular", "plural", "plural_capitalised", "domains")


class ComponentInline(TabularInline):
    model = GroupComponent
    fk_name = "group"
    extra = 0
    autocomplete_fields = ("component",)
    verbose_name = _("component")
    verbose_name_plural = _("Components of a paired group")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return True


@admin.register(SocialGroup)
class SocialGroupAdmin(SimpleHistoryAdmin, LibraryAdmin):
    form = SocialGroupForm
    list_display = ("plural", "singular", "slug", "domain_names")
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

    def get_queryset(self, request: HttpRequest) -> QuerySet[GroupSet]:
        return super().get_queryset(request).annotate(n_groups=Count("groups"))

    @display(description=_("groups"), ordering="n_groups")
    def n_groups(self, group_set: Any) -> int:
        return group_set.n_groups


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
