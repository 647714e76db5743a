"""Norms in the admin: imported from a file, looked at, replaced by importing them again."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.admin.history import HistoryAdmin
from evaluation.models import Norm


@admin.register(Norm)
class NormAdmin(HistoryAdmin, ModelAdmin):
    """External human references, each with its citation."""

    list_display = ("title", "slug", "kind", "year", "n_values")
    list_filter = ("kind",)
    search_fields = ("title", "slug", "citation")
    list_before_template = "admin/annotation/library/tabs.html"

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        """Lead to the page that imports a file, since norms come from files alone."""
        return redirect(self._import_address)

    @property
    def _import_address(self) -> str:
        return f"{reverse('admin:probing_run_import')}?kind=norms"

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        address = self._import_address if self.has_add_permission(request) else ""
        context = {"import_address": address, **(extra_context or {})}
        return super().changelist_view(request, context)

    def get_fields(self, request: HttpRequest, obj: Norm | None = None) -> Any:
        return ("title", "slug", "kind", "year", "citation", "note", "value_table")

    def get_readonly_fields(self, request: HttpRequest, obj: Norm | None = None) -> Any:
        return ("slug", "kind", "year", "value_table") if obj else ()

    @display(description=gettext_lazy("values"))
    def n_values(self, norm: Norm) -> int:
        return len(norm.values)

    @display(description=gettext_lazy("Values"))
    def value_table(self, norm: Norm) -> SafeString:
        lines = sorted(norm.values.items(), key=lambda item: (-item[1], item[0]))
        return format_html(
            "<details><summary>{}</summary>{}</details>",
            _("Show the %(n)d values") % {"n": len(lines)},
            format_html_join(", ", "{} {}", [(label, f"{value:g}") for label, value in lines]),
        )
