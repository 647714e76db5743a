"""Report pages: the document, its figures and its files. For staff who may see the study."""

from __future__ import annotations

from django.contrib.admin.views.decorators import staff_member_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from evaluation.models import Report, ReportStatus
from evaluation.reports.document import AlignmentDocument
from evaluation.reports.requesting import retry_report
from evaluation.reports.selectors import visible_reports
from probing.models import ShardStatus


def _get_report(request: HttpRequest, public_id: str) -> Report:
    # Authorisation first: reports on studies of others do not exist for this user.
    return get_object_or_404(visible_reports(request.user), public_id=public_id)


@require_GET
@staff_member_required
def page(request: HttpRequest, public_id: str) -> HttpResponse:
    report = _get_report(request, public_id)
    if report.status != ReportStatus.FINAL:
        return _waiting(request, report)
    group = request.GET.get("group", "")
    document = AlignmentDocument(report, group=group)
    if group and group != document.group:
        raise Http404(f"The report has no group “{group}”.")
    return render(request, "evaluation/report_page.html", {"document": document})


def _waiting(request: HttpRequest, report: Report) -> HttpResponse:
    lines = report.error.strip().splitlines()
    context = {
        "report": report,
        "error_line": lines[-1] if lines else "",
        "error_detail": report.error if len(lines) > 1 else "",
        "stored": report.run.shards.filter(status=ShardStatus.STORED).count(),
    }
    return render(request, "evaluation/report_waiting.html", context)


@require_POST
@staff_member_required
def retry(request: HttpRequest, public_id: str) -> HttpResponse:
    report = _get_report(request, public_id)
    retry_report(report=report)
    return redirect("reports:page", public_id)


@require_GET
@staff_member_required
def figure(request: HttpRequest, public_id: str, name: str) -> HttpResponse:
    """Return one figure as SVG for papers: light, with its fonts named."""
    report = _get_report(request, public_id)
    if report.status != ReportStatus.FINAL:
        raise Http404("The report is not final.")
    document = AlignmentDocument(report, group=request.GET.get("group", ""))
    found = document.find_figure(name)
    if found is None:
        raise Http404(f"The report has no figure “{name}”.")
    response = HttpResponse(found.svg_file, content_type="image/svg+xml")
    response["Content-Disposition"] = f'attachment; filename="{public_id}-{name}.svg"'
    return response


@require_GET
@staff_member_required
def file(request: HttpRequest, public_id: str, name: str) -> HttpResponse:
    report = _get_report(request, public_id)
    found = get_object_or_404(report.files, name=name)
    response = HttpResponse(bytes(found.content), content_type=found.media_type)
    response["Content-Disposition"] = f'attachment; filename="{public_id}-{name}"'
    return response
