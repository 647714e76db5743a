"""Pages that change what a report is called, where it stands, who may read it; and compare two."""

from __future__ import annotations

from typing import Any, cast

from django.contrib import messages
from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from annotation.common.small_cells import DEFAULT_MINIMUM
from evaluation.models import Report, ReportStatus
from evaluation.reports.answers import lay_out
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.report_changes import delete_report, pin_report, rename_report
from evaluation.reports.selectors import changeable_reports, visible_reports
from evaluation.reports.shares import LONGEST_DAYS, USUAL_DAYS, revoke_share, share_report
from evaluation.reports.side_by_side import find_differences, find_test, pair_keys

ask_or_do = require_http_methods(["GET", "POST"])


def _changeable(request: HttpRequest, public_id: str, right: str = "change_report") -> Report:
    """Return a report that the account may change; 404 where it does not even see it."""
    report = get_object_or_404(visible_reports(request.user), public_id=public_id)
    if not (
        request.user.has_perm(f"evaluation.{right}")
        and changeable_reports(request.user).filter(pk=report.pk).exists()
    ):
        raise PermissionDenied
    return report


@ask_or_do
@staff_member_required
def rename(request: HttpRequest, public_id: str) -> HttpResponse:
    report = _changeable(request, public_id)
    context: dict[str, Any] = {"report": report, "title": report.title}
    if request.method == "POST":
        context["title"] = request.POST.get("title", "")
        try:
            rename_report(report=report, title=context["title"])
        except ReportError as error:
            context["error"] = str(error)
        else:
            return redirect("reports:page", public_id)
    return render(request, "evaluation/rename.html", context)


@require_POST
@staff_member_required
def pin(request: HttpRequest, public_id: str) -> HttpResponse:
    """Pin a report, or take the pin away."""
    report = _changeable(request, public_id)
    pin_report(report=report, is_pinned=request.POST.get("pinned") == "1")
    return redirect("reports:page", public_id)


@ask_or_do
@staff_member_required
def delete(request: HttpRequest, public_id: str) -> HttpResponse:
    report = _changeable(request, public_id, "delete_report")
    context: dict[str, Any] = {"report": report}
    if request.method == "POST":
        try:
            delete_report(report=report, deleted_by=cast(User, request.user))
        except ReportError as error:
            context["error"] = str(error)
        else:
            messages.success(request, _("“%(title)s” was deleted.") % {"title": report.title})
            return redirect("admin:evaluation_report_changelist")
    context["n_files"] = report.files.count()
    context["n_open"] = report.shares.filter(
        revoked_at__isnull=True, expires_at__gt=timezone.now()
    ).count()
    return render(request, "evaluation/delete.html", context)


@ask_or_do
@staff_member_required
def share(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show the links to a report and make a new one, whose address is shown this once."""
    report = _changeable(request, public_id)
    context: dict[str, Any] = {
        "report": report,
        "days": USUAL_DAYS,
        "most": LONGEST_DAYS,
        "minimum": DEFAULT_MINIMUM,
    }
    if request.method == "POST":
        context["days"] = days = request.POST.get("days", "")
        try:
            context["link"] = share_report(
                report=report,
                created_by=cast(User, request.user),
                days=int(days) if days.isascii() and days.isdigit() and len(days) < 4 else 0,
            )
        except ReportError as error:
            context["error"] = str(error)
    context["shares"] = report.shares.select_related("created_by")
    context["now"] = timezone.now()
    response = render(request, "evaluation/share.html", context)
    response["Cache-Control"] = "no-store"
    return response


@require_POST
@staff_member_required
def revoke(request: HttpRequest, public_id: str, pk: int) -> HttpResponse:
    report = _changeable(request, public_id)
    found = get_object_or_404(report.shares.select_related("report"), pk=pk)
    revoke_share(share=found, revoked_by=cast(User, request.user))
    return redirect("reports:share", public_id)


@require_GET
@staff_member_required
def compare(request: HttpRequest, public_id: str) -> HttpResponse:
    """Show two reports of one kind side by side, or let the second one be chosen."""
    visible = visible_reports(request.user)
    report = get_object_or_404(visible, public_id=public_id, status=ReportStatus.FINAL)
    others = (
        visible.filter(kind=report.kind, status=ReportStatus.FINAL)
        .exclude(pk=report.pk)
        .order_by("-is_pinned", "-pk")
    )
    context: dict[str, Any] = {"report": report}
    if chosen := request.GET.get("with"):
        other = get_object_or_404(others, public_id=chosen)
        documents = [lay_out(request, one) for one in (report, other)]
        context |= {
            "other": other,
            "both": (report, other),
            "banners": list(dict.fromkeys(line for one in documents for line in one.banners)),
            "pairs": pair_keys(*documents),
            "differences": find_differences(report, other),
            "test": find_test(report, other, request.user),
        }
    else:
        context["others"] = others.defer("result", "inputs")
    return render(request, "evaluation/compare.html", context)
