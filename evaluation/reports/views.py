"""Report pages: the document, its figures and its files. For staff who may see what it rests on."""

from __future__ import annotations

from typing import cast

from django.contrib import messages
from django.contrib.admin.views.decorators import staff_member_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from evaluation.models import Report, ReportStatus
from evaluation.reports.answers import answer_figure, answer_file, answer_table, page_context
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.requesting import DEAD_RUNS, rebuild_report, retry_report
from evaluation.reports.selectors import visible_reports
from probing.models import RunStatus, ShardStatus


def _get_report(request: HttpRequest, public_id: str) -> Report:
    # Authorisation first: reports on studies and corpora of others do not exist for this user.
    return get_object_or_404(visible_reports(request.user), public_id=public_id)


@require_GET
@staff_member_required
def page(request: HttpRequest, public_id: str) -> HttpResponse:
    report = _get_report(request, public_id)
    if report.status != ReportStatus.FINAL:
        return _waiting(request, report)
    return render(request, "evaluation/report_page.html", page_context(request, report))


def _waiting(request: HttpRequest, report: Report) -> HttpResponse:
    lines = report.error.strip().splitlines()
    stored = Count("shards", filter=Q(shards__status=ShardStatus.STORED))
    runs = report.runs.exclude(status=RunStatus.FINISHED).annotate(stored=stored).order_by("pk")
    context = {
        "report": report,
        "error_line": lines[-1] if lines else "",
        "error_detail": report.error if len(lines) > 1 else "",
        "dead": [run for run in runs if run.status in DEAD_RUNS],
        "open": [run for run in runs if run.status not in DEAD_RUNS],
    }
    return render(request, "evaluation/report_waiting.html", context)


@require_POST
@staff_member_required
def retry(request: HttpRequest, public_id: str) -> HttpResponse:
    report = _get_report(request, public_id)
    retry_report(report=report)
    return redirect("reports:page", public_id)


@require_POST
@staff_member_required
def rebuild(request: HttpRequest, public_id: str) -> HttpResponse:
    """Ask for the same report on the data as they are now."""
    report = _get_report(request, public_id)
    if not request.user.has_perm("evaluation.add_report"):
        raise PermissionDenied
    try:
        rebuilt = rebuild_report(report=report, created_by=cast(User, request.user))
    except ReportError as error:
        messages.error(request, str(error))
        return redirect("admin:evaluation_report_changelist")
    return redirect("reports:page", rebuilt.public_id)


@require_GET
@staff_member_required
def figure(request: HttpRequest, public_id: str, name: str, form: str = "svg") -> HttpResponse:
    """Return one figure as a file for papers: light, with its fonts named."""
    return answer_figure(request, _get_report(request, public_id), name, form)


@require_GET
@staff_member_required
def table(request: HttpRequest, public_id: str, number: int) -> HttpResponse:
    """Return one table as it is printed, in LaTeX."""
    return answer_table(request, _get_report(request, public_id), number)


@require_GET
@staff_member_required
def file(request: HttpRequest, public_id: str, name: str) -> HttpResponse:
    return answer_file(_get_report(request, public_id), name)
