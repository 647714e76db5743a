"""What a report answers with, to whoever may see it: its page, its figures, tables and files."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404

from evaluation.charts import CSS_VALUES, render_pdf, render_png, render_svg
from evaluation.models import Report, ReportStatus
from evaluation.reports.drawings import shown_figures, use_drawings
from evaluation.reports.parts.document import Document, Table
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.latex import to_latex
from evaluation.reports.parts.provenance import WITHHELD
from evaluation.reports.parts.references import find_references, methods_text, to_bibtex
from evaluation.reports.registry import get_kind
from evaluation.reports.rendering import RenderedFile, render_file

# --- One figure or table of a report as a file ---

# Image pixels of a drawn pixel: a figure as wide as a page has 400 on an inch.
PNG_SCALE = 3.0
LATEX = "application/x-tex; charset=utf-8"


@dataclass(frozen=True)
class FigureForm:
    """A sort of file that a figure can be had as; ``render`` takes a specification."""

    label: str
    media_type: str
    render: Callable[[dict[str, Any]], bytes]


def to_json(spec: dict[str, Any]) -> bytes:
    """Return the specification as every editor of Vega-Lite opens it."""
    return f"{json.dumps(spec, ensure_ascii=False, indent=1, allow_nan=False)}\n".encode()


#: Ending of the file → what it is.
FIGURE_FORMS = {
    "svg": FigureForm("SVG", "image/svg+xml", lambda spec: render_svg(spec).encode()),
    "png": FigureForm("PNG", "image/png", lambda spec: render_png(spec, scale=PNG_SCALE)),
    "pdf": FigureForm("PDF", "application/pdf", render_pdf),
    "vl.json": FigureForm("Vega-Lite", "application/json", to_json),
}
# Before the ending of a figure that is drawn for narrow pages.
NARROW = "narrow."


def figure_file(document: Document, name: str, form: str) -> RenderedFile | None:
    """Return a figure as a file, None where there is none of that name or form.

    form : an ending of `FIGURE_FORMS`, after ``narrow.`` for the drawing of narrow pages
    """
    figure = document.find_figure(name)
    found = FIGURE_FORMS.get(form.removeprefix(NARROW))
    if figure is None or found is None:
        return None
    spec = figure.narrow_spec if form.startswith(NARROW) else figure.spec
    if spec is None:
        return None
    content = figure.svg_file.encode() if form == "svg" else found.render(spec)
    return RenderedFile(f"{name}.{form}", found.media_type, content)


def table_file(document: Document, number: int) -> RenderedFile | None:
    """Return a printed table in LaTeX by its number, None where there is none."""
    for _section, blocks in document.parts:
        for numbered in blocks:
            if isinstance(numbered.block, Table) and numbered.number == number:
                label = f"tab:{numbered.block.data}-{number}"
                content = to_latex(numbered.block, label=label).encode()
                return RenderedFile(f"table-{number}.tex", LATEX, content)
    return None


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
