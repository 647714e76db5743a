"""Reports in the admin: the gallery, the choice of a kind, and the form that asks for a report."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from evaluation.admin.report_form import INPUTS, ReportForm, list_fitting_kinds
from evaluation.models import Report, ReportStatus
from evaluation.reports.parts.formatting import MISSING
from evaluation.reports.registry import KINDS, headline, title_of
from evaluation.reports.selectors import visible_reports

BADGES = {
    ReportStatus.WAITING: "info mark-clock",
    ReportStatus.BUILDING: "info mark-play",
    ReportStatus.FINAL: "good mark-tick",
    ReportStatus.FAILED: "bad mark-cross",
}


def report_badge(report: Report) -> SafeString:
    """Return the status of a report as a badge: a mark and a word."""
    mark = BADGES[ReportStatus(report.status)]
    return format_html('<span class="badge {}">{}</span>', mark, report.get_status_display())


class KindFilter(admin.SimpleListFilter):
    """By kind, with the titles of the registry."""

    title = _("kind")
    parameter_name = "kind"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(kind.name, str(kind.title)) for kind in KINDS.values()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Report]) -> QuerySet[Report]:
        return queryset.filter(kind=self.value()) if self.value() else queryset


@admin.register(Report)
class ReportAdmin(ModelAdmin):
    """The gallery of reports. A report is asked for here and read on its own page."""

    list_display = (
        "title_link",
        "kind_title",
        "rests_on",
        "status_badge",
        "headline",
        "created_at",
    )
    list_display_links = None
    list_filter = ("status", KindFilter)
    search_fields = ("title", "public_id")
    list_per_page = 50
    actions = None

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        return visible_reports(request.user).defer("inputs").order_by("-pk")

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("New report"),
        }
        kind = KINDS.get(request.GET.get("kind", ""))
        if kind is None:
            context["kinds"] = list_fitting_kinds(cast(User, request.user), request.GET)
            context["is_about"] = any(name in request.GET for name in INPUTS)
            return TemplateResponse(request, "admin/evaluation/report/kinds.html", context)
        form = ReportForm(
            request.POST or None,
            kind=kind,
            user=cast(User, request.user),
            initial={
                name: request.GET.getlist(name) if name == "runs" else request.GET[name]
                for name in INPUTS
                if name in request.GET
            },
        )
        if request.method == "POST" and form.is_valid() and form.report is not None:
            return redirect("reports:page", form.report.public_id)
        context |= {"form": form, "kind": kind}
        return TemplateResponse(request, "admin/evaluation/report/add.html", context)

    def has_change_permission(self, request: HttpRequest, obj: Report | None = None) -> bool:
        return False

    @display(description=_("report"), ordering="title")
    def title_link(self, report: Report) -> str:
        address = reverse("reports:page", args=[report.public_id])
        return format_html('<a href="{}">{}</a>', address, report.title)

    @display(description=_("kind"), ordering="kind")
    def kind_title(self, report: Report) -> str:
        return title_of(report)

    @display(description=_("rests on"))
    def rests_on(self, report: Report) -> str:
        parts = [str(part) for part in (report.study, report.corpus) if part]
        runs = [f"{run} ({run.model.name})" for run in report.runs.all()]
        return (
            " × ".join([*parts, *runs[:2]]) + (f" + {len(runs) - 2}" if len(runs) > 2 else "")
            or MISSING
        )

    @display(description=_("status"), ordering="status")
    def status_badge(self, report: Report) -> SafeString:
        badge = report_badge(report)
        if not report.n_withdrawn:  # type: ignore[attr-defined]
            return badge
        mark = '{} <span class="badge warn mark-triangle">{}</span>'
        return format_html(mark, badge, _("Built before a withdrawal"))

    @display(description=_("headline"))
    def headline(self, report: Report) -> str:
        return headline(report)
