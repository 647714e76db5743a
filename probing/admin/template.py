"""Templates and sets of templates in the admin."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from simple_history.admin import SimpleHistoryAdmin
from unfold.admin import ModelAdmin
from unfold.decorators import display

from probing.models import Template, TemplateSet


@admin.register(Template)
class TemplateAdmin(SimpleHistoryAdmin, ModelAdmin):
    """The library of templates; a run keeps its own copy, so an edit changes no score."""

    list_display = ("text", "slug", "set_titles")
    list_filter = ("sets",)
    search_fields = ("text", "slug")
    prepopulated_fields = {"slug": ("text",)}
    fields = ("text", "slug")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Template]:
        return super().get_queryset(request).prefetch_related("sets")

    @display(description=_("sets"))
    def set_titles(self, template: Template) -> str:
        return "; ".join(chosen.title for chosen in template.sets.all()) or "–"


@admin.register(TemplateSet)
class TemplateSetAdmin(ModelAdmin):
    """Named choices of templates."""

    list_display = ("title", "slug", "template_count")
    search_fields = ("title", "slug")
    prepopulated_fields = {"slug": ("title",)}
    filter_horizontal = ("templates",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[TemplateSet]:
        return super().get_queryset(request).annotate(number=Count("templates"))

    @display(description=_("templates"), ordering="number")
    def template_count(self, chosen: TemplateSet) -> int:
        return chosen.number  # type: ignore[attr-defined] # annotated above
