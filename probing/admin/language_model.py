"""Language models in the admin: registered by location, described by their configuration."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path
from django.utils.html import format_html, format_html_join
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.admin.history import HistoryAdmin
from annotation.researcher.pages.fields import TextField
from probing.lm.errors import LanguageModelError
from probing.models import LanguageModel, ModelKind
from probing.runs.certificates import (
    OUTCOMES,
    certify,
    checks_with_questions,
    describe_tried,
    ensure_certificate,
    grouped_fits,
    has_certificate,
    measure_fits,
    read_certificate,
    why_outdated,
)
from probing.runs.errors import RunError
from probing.runs.language_models import describe_model, is_registered
from probing.runs.served_models import describe_server, examine_server

PRICES = ("input_price", "output_price", "price_currency")


class RegisterModelForm(forms.ModelForm):
    """Asks for a model’s location; everything else is read there."""

    name = TextField(
        required=False,
        max_length=160,
        help_text=_("As reports print it. Without one it is the hub id or the folder’s name."),
    )

    class Meta:
        model = LanguageModel
        fields = ("location", "name", "revision", "served_name", "key_variable", *PRICES)

    def clean(self) -> dict[str, Any] | None:
        cleaned = super().clean()
        if cleaned is None or self.errors:
            return cleaned
        place = {name: cleaned[name] for name in ("location", "revision", "served_name")}
        try:
            if known := is_registered(**place):
                raise RunError.at("location", f"This model is already registered as “{known}”.")
            self.instance = describe_model(
                **place, name=cleaned["name"] or None, key_variable=cleaned["key_variable"]
            )
            read = [name for name in self.fields if name not in PRICES]
            cleaned |= {name: getattr(self.instance, name) for name in read}
        except RunError as error:
            for problem in error.problems:
                self.add_error(
                    problem.where if problem.where in self.fields else None, problem.message
                )
        return cleaned


BADGES = {
    "passed": "good mark-tick",
    "failed": "bad mark-cross",
    "look": "warn mark-triangle",
    "noted": "info mark-ring",
}


def describe_card(model: LanguageModel, *, may_test: bool) -> dict[str, Any]:
    """Return what a model's page shows of its certificate and of the measures. One query."""
    certificate, outdated, fits = read_certificate(model), why_outdated(model), measure_fits(model)
    tried = [one for one in certificate.checks if one.outcome != "noted"] if certificate else []
    speed = certificate.check("speed") if certificate else None
    able = [fit for fit in fits if fit.can]
    state, badge = _("Ready"), "good mark-tick"
    if not able:
        state, badge = _("Can’t be used"), "bad mark-cross"
    elif outdated:
        state, badge = _("To be tested"), "warn mark-clock"
    elif certificate and certificate.failed:
        state, badge = _("With limits"), "warn mark-triangle"
    return {
        "state": state,
        "badge": badge,
        "runs": model.runs.count(),
        "may_test": may_test and has_certificate(model),
        "certificate": certificate,
        "how": describe_tried(certificate) if certificate else "",
        "outdated": outdated,
        "tried": len(tried),
        "passed": sum(one.outcome == "passed" for one in tried),
        "speed": f"{speed.value:,.0f}" if speed and speed.value else "",
        "checks": [
            {
                "title": title,
                "question": question,
                "result": check.result,
                "outcome": OUTCOMES[check.outcome],
                "badge": BADGES[check.outcome],
            }
            for title, question, check in (
                checks_with_questions(certificate) if certificate else ()
            )
        ],
        "fits": fits,
        "grouped": grouped_fits(fits),
        "able": able,
    }


@admin.register(LanguageModel)
class LanguageModelAdmin(HistoryAdmin, ModelAdmin):
    """Registered models. Where a model is never changes: its runs refer to it."""

    list_display = ("name_and_label", "kind", "family", "location", "parameters", "created_at")
    list_filter = ("kind", "family", "source", "is_demo")
    search_fields = ("name", "location", "served_name")
    fields = (
        "name",
        "location",
        "revision",
        "source",
        "kind",
        "family",
        "parameters",
        "is_demo",
        "created_at",
    )
    server_fields = (
        "name",
        "location",
        "served_name",
        "key_variable",
        *PRICES,
        "kind",
        "server",
        "created_at",
    )

    change_form_outer_before_template = "admin/probing/model/card.html"

    def get_urls(self) -> list[URLPattern]:
        test = self.admin_site.admin_view(self.test_view)
        return [
            path("<int:pk>/test/", test, name="probing_languagemodel_test"),
            *super().get_urls(),
        ]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        model = self.get_object(request, object_id) if request.method == "GET" else None
        card = None
        if model is not None and self.has_view_or_change_permission(request, model):
            card = describe_card(model, may_test=self.has_change_permission(request, model))
        return super().change_view(
            request, object_id, form_url, {**(extra_context or {}), "card": card}
        )

    def test_view(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Test a model again."""
        model = get_object_or_404(LanguageModel, pk=pk)
        if not self.has_change_permission(request, model) or not has_certificate(model):
            raise PermissionDenied
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        try:
            certify(model, again=True)
        except LanguageModelError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, _("The model has been tested."))
        return redirect("admin:probing_languagemodel_change", pk)

    def save_model(self, request: HttpRequest, obj: LanguageModel, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if change:
            return
        if obj.kind == ModelKind.CHAT:
            # Afterwards: a server may take its time, and the database should not wait for it.
            transaction.on_commit(lambda: examine_server(obj), robust=True)
        else:
            transaction.on_commit(lambda: ensure_certificate(obj), robust=True)

    def get_form(
        self, request: HttpRequest, obj: LanguageModel | None = None, **kwargs: Any
    ) -> type[forms.ModelForm]:
        if obj is None:
            kwargs["form"] = RegisterModelForm
        return super().get_form(request, obj, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: LanguageModel | None = None) -> Any:
        if obj is None:
            return [
                (None, {"fields": ("location", "name", "revision")}),
                (
                    _("Chat, behind a server"),
                    {
                        "fields": ("served_name", "key_variable", *PRICES),
                        "description": _(
                            "For a model behind any server with OpenAI’s protocol: its base URL "
                            "is the location, such as http://localhost:11434/v1. The server is "
                            "tried once the model is saved. The key itself is never stored."
                        ),
                    },
                ),
            ]
        return [(None, {"fields": self._shown(obj)})]

    def get_readonly_fields(self, request: HttpRequest, obj: LanguageModel | None = None) -> Any:
        return (
            ()
            if obj is None
            else [field for field in self._shown(obj) if field not in {"name", *PRICES}]
        )

    def _shown(self, obj: LanguageModel) -> list[str]:
        if obj.kind == ModelKind.CHAT:
            return list(self.server_fields)
        shown = list(self.fields or ())
        if obj.trained_from_id:
            shown += ["trained_from", "training_run"]
        return shown

    @display(description=_("name"), ordering="name")
    def name_and_label(self, model: LanguageModel) -> str:
        if not model.is_demo:
            return model.name
        return format_html(
            '{} <span class="badge warn mark-triangle">{}</span>', model.name, _("meaningless")
        )

    @display(description=_("server"))
    def server(self, model: LanguageModel) -> str:
        lines = [(line,) for line in describe_server(model)]
        return format_html_join(mark_safe("<br>"), "{}", lines) if lines else "–"

    @display(description=_("parameters"), ordering="parameter_count")
    def parameters(self, model: LanguageModel) -> str:
        return "–" if model.parameter_count is None else f"{model.parameter_count:,}"
