"""What a report answers with, to whoever may see it: its page, its figures, tables and files."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from evaluation.charts import CSS_VALUES
from evaluation.models import Report, ReportStatus
from evaluation.reports.drawings import shown_figures, use_drawings
from evaluation.reports.parts.document import Document
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.provenance import WITHHELD
from evaluation.reports.parts.references import find_references, methods_text, to_bibtex
from evaluation.reports.registry import get_kind
from evaluation.reports.rendering import RenderedFile, render_file
from evaluation.reports.single_files import FIGURE_FORMS, figure_file, table_file

BIBTEX = "application/x-bibtex; charset=utf-8"
FORMATS = {
    "report.pdf": "PDF",
    "report.html": "HTML",
    "report.xlsx": "XLSX",
    "report.json": "JSON",
}


def page_context(request: HttpRequest, report: Report) -> dict[str, Any]:
    """Return what the template of a final report's page needs; its links start at this address."""
    names = set(report.files.values_list("name", flat=True))
    view = _read_view(request, report)
    document = lay_out(request, report)
    use_drawings(report, shown_figures(document))
    return {
        "report": report,
        "document": document,
        "methods": methods_text(report, document),
        "references": list(find_references(report)),
        "medium": "page",
        "base": request.path,
        "query": f"?{urlencode(view)}" if view else "",
        "colors": json.dumps(CSS_VALUES),
        "figure_forms": [(name, form.label) for name, form in FIGURE_FORMS.items()],
        "formats": [(name, label) for name, label in FORMATS.items() if name in names],
        "has_pdf": "report.pdf" in names,
    }


def lay_out(request: HttpRequest, report: Report) -> Document:
    """Return the document in the view that the address asks for; 404 where there is none."""
    if report.status != ReportStatus.FINAL:
        raise Http404("The report is not final.")
    try:
        return get_kind(report.kind).document(report, _read_view(request, report))
    except ReportError as error:
        raise Http404(str(error)) from error


def _read_view(request: HttpRequest, report: Report) -> dict[str, str]:
    names = get_kind(report.kind).views
    return {name: request.GET[name] for name in names if request.GET.get(name)}


def answer_figure(request: HttpRequest, report: Report, name: str, form: str) -> HttpResponse:
    document = lay_out(request, report)
    figure = document.find_figure(name)
    if figure and form == "svg":
        use_drawings(report, [figure])
    return _download(report, figure_file(document, name, form))


def answer_table(request: HttpRequest, report: Report, number: int) -> HttpResponse:
    return _download(report, table_file(lay_out(request, report), number))


def answer_references(report: Report) -> HttpResponse:
    """Return what a paper on the report cites, as BibTeX."""
    if report.status != ReportStatus.FINAL:
        raise Http404("The report is not final.")
    return _download(report, RenderedFile("references.bib", BIBTEX, to_bibtex(report)))


def answer_file(report: Report, name: str) -> HttpResponse:
    found = get_object_or_404(report.files, name=name)
    if WITHHELD in report.inputs:
        document = get_kind(report.kind).document(report, {})
        return _download(report, render_file(report, document, name))
    return _download(report, RenderedFile(name, found.media_type, bytes(found.content)))


def _download(report: Report, file: RenderedFile | None) -> HttpResponse:
    if file is None:
        raise Http404("The report has no such file.")
    response = HttpResponse(file.content, content_type=file.media_type)
    response["Content-Disposition"] = f'attachment; filename="{report.public_id}-{file.name}"'
    return response
