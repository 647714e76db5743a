"""Turns a document into files: a self-contained page, PDF, workbook, JSON, every table as CSV."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string

from annotation.common.lazy import pd
from annotation.common.tables import neutralize
from evaluation.models import Report
from evaluation.reports.parts.document import Document

REMEDY = (
    "WeasyPrint cannot load Pango ({reason}). On Debian and Ubuntu install libpango-1.0-0, "
    "libpangoft2-1.0-0 and libharfbuzz-subset0."
)


class PdfUnavailableError(Exception):
    """Why no PDF can be made on this machine, and what to install."""


def render_pdf(page: str, stylesheet: str) -> bytes:
    """Return the HTML of ``page`` as PDF; equal pages give equal bytes on one machine.

    Nothing is fetched: images are data addresses in the page.
    """
    weasyprint = import_weasyprint()
    fetcher = weasyprint.urls.URLFetcher(allowed_protocols=["data"])
    fonts = weasyprint.text.fonts.FontConfiguration()
    rules = weasyprint.CSS(string=stylesheet, url_fetcher=fetcher, font_config=fonts)
    html = weasyprint.HTML(string=page, url_fetcher=fetcher)
    content: bytes = html.write_pdf(stylesheets=[rules], font_config=fonts)
    return content


def import_weasyprint() -> Any:
    try:
        import weasyprint
        import weasyprint.text.fonts
        import weasyprint.urls
    except (ImportError, OSError) as error:
        # A missing shared library is an OSError of several lines; the first names it.
        reason = str(error).strip().splitlines()[0]
        raise PdfUnavailableError(REMEDY.format(reason=reason)) from error
    # It warns of every property of the page's stylesheet that paper has no use for.
    logging.getLogger("weasyprint").setLevel(logging.ERROR)
    return weasyprint


logger = logging.getLogger(__name__)

STYLESHEETS = ("stereoscope/tokens.css", "evaluation/report.css")
PAPER_STYLESHEETS = (*STYLESHEETS, "evaluation/paper.css")
PDF = "report.pdf"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


@dataclass(frozen=True)
class RenderedFile:
    name: str
    media_type: str
    content: bytes


def render_files(report: Report, document: Document) -> list[RenderedFile]:
    """Return the files of a report; the PDF is missing where its libraries are.

    The same report and document give the same bytes.
    """
    files = [render_file(report, document, name) for name in file_names(document)]
    try:
        files.append(render_file(report, document, PDF))
    except PdfUnavailableError as error:
        logger.warning("no PDF of report %s: %s", report.public_id, error)
    return [file for file in files if file is not None]


def file_names(document: Document) -> list[str]:
    """Return the names of the files that every machine can render."""
    tables = [f"{table.name}.csv" for table in document.tables]
    return ["report.html", "report.xlsx", "report.json", *tables]


def render_file(report: Report, document: Document, name: str) -> RenderedFile | None:
    """Return one file of a report, None where it has none of that name.

    Raises `PdfUnavailableError` for the PDF where its libraries are missing.
    """
    from evaluation.reports.workbook import render_workbook

    if name == "report.html":
        page = _render_page(report, document).encode()
        return RenderedFile(name, "text/html; charset=utf-8", page)
    if name == "report.xlsx":
        return RenderedFile(name, XLSX, render_workbook(report, document))
    if name == "report.json":
        return RenderedFile(name, "application/json", render_json(report, document))
    if name == PDF:
        paper = render_pdf(_render_paper(report, document), _read_stylesheets(PAPER_STYLESHEETS))
        return RenderedFile(name, "application/pdf", paper)
    for table in document.tables:
        if name == f"{table.name}.csv":
            return RenderedFile(name, "text/csv; charset=utf-8", to_csv(table.frame))
    return None


def render_json(report: Report, document: Document) -> bytes:
    """Return everything that is stored of a report, in one object with sorted keys."""
    content: dict[str, Any] = {
        "report": report.public_id,
        "kind": report.kind,
        "title": document.title,
        "question": document.question,
        "banners": document.banners,
        "parameters": report.parameters,
        "inputs": report.inputs,
        "result": report.result,
        "method": document.method,
        "caveats": document.caveats,
        "left_out": document.left_out,
        "data_statement": {part.heading: part.paragraphs for part in document.statement},
        "provenance": {
            name: {"text": text, "code": code}
            for column in document.provenance
            for name, text, code in column
        },
        "code_version": report.code_version,
        "library_versions": report.library_versions,
        "built_at": report.built_at.isoformat() if report.built_at else None,
    }
    text = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False)
    return f"{text}\n".encode()


def to_csv(table: pd.DataFrame) -> bytes:
    """Return the table as UTF-8 CSV: numbers as computed, text cells safe for spreadsheets."""
    safe = table.copy()
    for column in safe.columns:
        if safe[column].dtype == object or pd.api.types.is_string_dtype(safe[column]):
            safe[column] = [
                neutralize(value) if isinstance(value, str) else value for value in safe[column]
            ]
    return safe.to_csv(index=False, lineterminator="\n").encode()


def _render_page(report: Report, document: Document) -> str:
    return render_to_string(
        "evaluation/report_file.html",
        {
            "report": report,
            "document": document,
            "medium": "file",
            "stylesheet": _read_stylesheets(STYLESHEETS),
        },
    )


def _render_paper(report: Report, document: Document) -> str:
    return render_to_string(
        "evaluation/report_paper.html",
        {"report": report, "document": document, "medium": "paper"},
    )


def _read_stylesheets(names: tuple[str, ...]) -> str:
    texts = []
    for name in names:
        path = finders.find(name)
        if path is None:
            raise FileNotFoundError(f"The stylesheet {name} is missing from the static files.")
        texts.append(Path(path).read_text())
    return "\n".join(texts)
