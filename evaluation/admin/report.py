"""Reports in the admin: the gallery, the choice of a kind, and the form that asks for a report."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import BooleanField, ExpressionWrapper, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.decorators import display

from annotation.admin.base import do_to_each
from evaluation.admin.report_form import INPUTS, ReportForm, list_fitting_kinds
from evaluation.models import Report, ReportStatus
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import MISSING
from evaluation.reports.registry import KINDS, headline, title_of
from evaluation.reports.report_changes import delete_report, pin_report
from evaluation.reports.requesting import rebuild_report
from evaluation.reports.selectors import changeable_reports, is_changeable_by, visible_reports

BADGES = {
    ReportStatus.WAITING: "info mark-clock",
    ReportStatus.BUILDING: "info mark-play",
    ReportStatus.FINAL: "good mark-tick",
    ReportStatus.FAILED: "bad mark-cross",
}


@contextmanager
def refusals_told(request: HttpRequest) -> Iterator[None]:
    """Turn a `ReportError` into a message on the next page."""
    try:
        yield
    except ReportError as error:
        messages.error(request, str(error))


def describe_loss(report: Report) -> str:
    """Return what is gone with a report: its files, and links that people were given."""
    n = report.shares.count()
    if not n:
        return report.title
    text = ngettext(
        "%(title)s, with %(n)d link that was shared",
        "%(title)s, with %(n)d links that were shared",
        n,
    )
    return text % {"title": report.title, "n": n}


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
        "links",
    )
    list_display_links = None
    list_filter = ("status", KindFilter, "is_pinned")
    search_fields = (
        "title",
        "public_id",
        "study__title",
        "corpus__name",
        "created_by__username",
    )
    list_per_page = 50
    ordering = ("-is_pinned", "-pk")
    actions = ("pin", "unpin", "rebuild_selected")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        may_change = ExpressionWrapper(is_changeable_by(request.user), BooleanField())
        reports = visible_reports(request.user).annotate(may_change=may_change)
        return reports.defer("inputs")

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        # Links and files go with a report; it asks for no right to these.
        _all, _counts, needed, _protected = super().get_deleted_objects(objs, request)
        lost = [describe_loss(report) for report in objs]
        counts = {str(self.opts.verbose_name_plural): len(lost)}
        own = set(changeable_reports(request.user).values_list("pk", flat=True))
        kept = [
            gettext("“%(title)s” is not yours to delete.") % {"title": report.title}
            for report in objs
            if report.pk not in own
        ] + [
            gettext("“%(title)s” is being built. Delete it when it is done.")
            % {"title": report.title}
            for report in objs
            if report.status == ReportStatus.BUILDING
        ]
        return lost, counts, needed & {self.opts.verbose_name}, kept

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        keys = list(queryset.order_by().values_list("pk", flat=True))
        for report in changeable_reports(request.user).filter(pk__in=keys):
            with refusals_told(request):
                delete_report(report=report, deleted_by=cast(User, request.user))

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

    @admin.action(description=_("Pin to the top"))
    def pin(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        self._set_pins(request, queryset, is_pinned=True)

    @admin.action(description=_("Take the pin away"))
    def unpin(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        self._set_pins(request, queryset, is_pinned=False)

    @admin.action(description=_("Build again from the data as they are now"), permissions=["add"])
    def rebuild_selected(self, request: HttpRequest, queryset: QuerySet[Report]) -> None:
        """Ask for each anew; the old ones stay as they are."""
        keys = queryset.order_by().values("pk")

        def rebuild(report: Report) -> None:
            try:
                rebuild_report(report=report, created_by=cast(User, request.user))
            except ReportError as error:
                raise ValidationError(str(error)) from error

        reports = list(visible_reports(request.user).filter(pk__in=keys))
        do_to_each(request, reports, rebuild, gettext("Being built again: %(n)d."))

    def _set_pins(
        self, request: HttpRequest, queryset: QuerySet[Report], *, is_pinned: bool
    ) -> None:
        if not request.user.has_perm("evaluation.change_report"):
            raise PermissionDenied
        for report in changeable_reports(request.user).filter(pk__in=queryset.values("pk")):
            pin_report(report=report, is_pinned=is_pinned)

    @display(description=_("report"), ordering="title")
    def title_link(self, report: Report) -> str:
        address = reverse("reports:page", args=[report.public_id])
        link = format_html('<a href="{}">{}</a>', address, report.title)
        if not report.is_pinned:
            return link
        return format_html('{} <span class="badge info">{}</span>', link, _("Pinned"))

    @display(description=_("do"))
    def links(self, report: Report) -> str:
        """Return what can be done with a report; its pages ask before a loss."""
        names = [("compare", _("Compare"))] if report.status == ReportStatus.FINAL else []
        if report.may_change:  # type: ignore[attr-defined]
            names += [("rename", _("Rename")), ("delete", _("Delete"))]
        return format_html_join(
            " ",
            '<a class="row-action" href="{}" aria-label="{}">{}</a>',
            (
                (
                    reverse(f"reports:{name}", args=[report.public_id]),
                    f"{label}: {report.title}",
                    label,
                )
                for name, label in names
            ),
        )

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
