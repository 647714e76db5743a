"""Norms in the admin: imported from a file, looked at, replaced by importing them again."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from unfold.admin import ModelAdmin
from unfold.decorators import display
from unfold.widgets import UnfoldAdminFileFieldWidget

from annotation.admin.history import HistoryAdmin
from evaluation.models import Norm
from evaluation.norms.norm_import import NormFileError, import_norms, parse_norms

LARGEST_FILE = 5 * 1024 * 1024
PROBLEMS_SHOWN = 30


class NormFileForm(forms.ModelForm):
    """Asks for the file alone: it says everything that a norm holds."""

    file = forms.FileField(
        label=gettext_lazy("File"),
        help_text=gettext_lazy(
            "CSV or TSV in UTF-8 with a row for each value: adjective and percent (with study_key "
            "and year), adjective and favourability, or title and prestige; and a column source. "
            "Norms of the same name are replaced."
        ),
        widget=UnfoldAdminFileFieldWidget,
    )

    class Meta:
        model = Norm
        fields = ()

    def clean_file(self) -> Any:
        file = self.cleaned_data["file"]
        if file.size > LARGEST_FILE:
            raise forms.ValidationError(_("The file is too large, expected 5 MB at most."))
        self.content, self.file_name = file.read(), file.name
        try:
            parse_norms(self.content, self.file_name)
        except NormFileError as error:
            shown = [str(problem) for problem in error.problems[:PROBLEMS_SHOWN]]
            raise forms.ValidationError([str(error), *shown]) from error
        return file

    def _post_clean(self) -> None:
        """Skip the checks of the model, which the file's own have made."""


@admin.register(Norm)
class NormAdmin(HistoryAdmin, ModelAdmin):
    """External human references, each with its citation."""

    list_display = ("title", "slug", "kind", "year", "n_values")
    list_filter = ("kind",)
    search_fields = ("title", "slug", "citation")

    def get_form(
        self, request: HttpRequest, obj: Norm | None = None, change: bool = False, **kwargs: Any
    ) -> Any:
        return NormFileForm if obj is None else super().get_form(request, obj, change, **kwargs)

    def get_fields(self, request: HttpRequest, obj: Norm | None = None) -> Any:
        if obj is None:
            return ("file",)
        return ("title", "slug", "kind", "year", "citation", "note", "value_table")

    def get_readonly_fields(self, request: HttpRequest, obj: Norm | None = None) -> Any:
        return ("slug", "kind", "year", "value_table") if obj else ()

    def save_model(self, request: HttpRequest, obj: Norm, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        user = request.user if isinstance(request.user, User) else None
        stored = import_norms(content=form.content, file_name=form.file_name, user=user)
        obj.__dict__.update(stored[0].__dict__)

    def response_add(
        self, request: HttpRequest, obj: Norm, post_url_continue: Any = None
    ) -> HttpResponse:
        messages.success(request, _("The norms of the file are stored."))
        return redirect("admin:evaluation_norm_changelist")

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
