"""Groups and trait pairs in the admin, with the history of every edit."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import TabularInline
from unfold.decorators import display

from annotation.admin.history import HistoryAdmin
from annotation.admin.library import GROUP_TABS, LibraryAdmin
from annotation.admin.library_file import LibraryFiles
from annotation.admin.library_form import (
    FORM_FIELDS,
    ComponentFormSet,
    SocialGroupForm,
    TraitPairForm,
    propose_slug,
)
from annotation.admin.library_use import KeptWhileUsed
from annotation.library.group_kind import GroupKind
from annotation.library.paired_groups import create_pairs, pair_chosen
from annotation.library.surface_forms import FORMS, Forms, check_forms, propose_forms, show
from annotation.library.trait_kind import TraitKind
from annotation.models import Domain, GroupComponent, SocialGroup, TraitPair


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
class SocialGroupAdmin(KeptWhileUsed, LibraryFiles, HistoryAdmin, LibraryAdmin):
    form = SocialGroupForm
    list_display = ("plural", "singular", "slug", "domain_names")
    list_filter = (PairedFilter, "sets")
    search_fields = ("slug", "singular", "plural")
    inlines = (ComponentInline,)
    actions = ("pair_groups",)
    tab_names = GROUP_TABS
    library_kind = GroupKind()

    class Media:
        js = [forms.Script("annotation/group-forms.js", type="module")]

    @display(description=_("domains"))
    def domain_names(self, group: SocialGroup) -> str:
        return ", ".join(str(Domain(name).label) for name in group.domains)

    # --- the form ----------------------------------------------------------------------------

    def get_fields(self, request: HttpRequest, obj: SocialGroup | None = None) -> Any:
        own = ("singular", "plural", "plural_capitalised", "modifier", "reads", "slug", "domains")
        if not self._may_edit(request, obj):
            return own
        may_choose_sets = request.user.has_perm("annotation.change_groupset")
        return (*own, *(("group_sets",) if may_choose_sets else ()), "as_written")

    def get_readonly_fields(self, request: HttpRequest, obj: SocialGroup | None = None) -> Any:
        return (*super().get_readonly_fields(request, obj), "reads")

    def _may_edit(self, request: HttpRequest, obj: SocialGroup | None) -> bool:
        if obj is None:
            return self.has_add_permission(request)
        return self.has_change_permission(request, obj)

    @display(description=_("How it reads"))
    def reads(self, group: SocialGroup | None) -> SafeString:
        """Return the forms in sentences; the page's script asks for them anew while one types."""
        given = group or SocialGroup()
        return format_html(
            '<div class="form-check" data-form-check data-address="{}"{} aria-live="polite">'
            "{}</div>",
            reverse("admin:annotation_socialgroup_forms"),
            SafeString("" if given.pk else " data-proposes"),
            _reading(Forms(*(getattr(given, name) for name in FORM_FIELDS))),
        )

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        form.tell_remarks(request)

    # --- proposals and pairs -----------------------------------------------------------------

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.forms_view)
        return [path("forms/", view, name="annotation_socialgroup_forms"), *super().get_urls()]

    def forms_view(self, request: HttpRequest) -> HttpResponse:
        """Answer the page's script: forms proposed from the singular, and how they read."""
        if not (self.has_add_permission(request) or self.has_change_permission(request)):
            raise PermissionDenied
        given = {name: request.GET.get(name, "")[:200] for name in FORM_FIELDS}
        singular = given["singular"]
        proposed = propose_forms(singular)
        values = {name: getattr(proposed, name) for name in FORM_FIELDS}
        return JsonResponse(
            {
                "proposed": {**values, "slug": propose_slug(singular)} if singular.strip() else {},
                "reads": _reading(Forms(**given)),
            }
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


def _reading(given: Forms) -> str:
    """Return the sentences that show a group's forms, with what is wrong in them."""
    sentences = dict.fromkeys(
        show(name, getattr(given, name)) for name in FORMS if getattr(given, name).strip()
    )
    found = check_forms(given) if given.singular.strip() else []
    findings = {finding.message: finding for finding in reversed(found)}.values()
    return render_to_string(
        "admin/annotation/library/reading.html",
        {"sentences": list(sentences), "findings": list(findings)[::-1]},
    )


@admin.register(TraitPair)
class TraitPairAdmin(KeptWhileUsed, LibraryFiles, HistoryAdmin, LibraryAdmin):
    form = TraitPairForm
    list_display = ("pair", "dimension", "slug", "position")
    list_filter = ("dimension",)
    search_fields = ("slug", "low", "high")
    library_kind = TraitKind()

    @display(description=_("trait pair"), ordering="position")
    def pair(self, trait_pair: TraitPair) -> str:
        return str(trait_pair)

    def get_fields(self, request: HttpRequest, obj: TraitPair | None = None) -> Any:
        own = tuple(TraitPairForm.Meta.fields)
        may_edit = (
            self.has_add_permission(request)
            if obj is None
            else self.has_change_permission(request, obj)
        )
        return (*own, "as_written") if may_edit else own

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        form.tell_remarks(request)
