"""Turns a document into files: one self-contained HTML page and every table as CSV."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from django.contrib.staticfiles import finders
from django.template.loader import render_to_string

from annotation.exports.tables import neutralise
from evaluation.reports.document import AlignmentDocument

STYLESHEETS = ("stereoscope/tokens.css", "evaluation/report.css")


@dataclass(frozen=True)
class RenderedFile:
    name: str
    media_type: str
    content: bytes


def render_files(document: AlignmentDocument) -> list[RenderedFile]:
    """Return the files of a report: ``report.html`` and one CSV for each table."""
    html = render_to_string(
        "evaluation/report_file.html",
        {"document": document, "stylesheet": _read_stylesheets()},
    )
    return [
        RenderedFile("report.html", "text/html; charset=utf-8", html.encode()),
        *(
            RenderedFile(f"{name}.csv", "text/csv; charset=utf-8", to_csv(table))
            for name, table in document.tables.items()
        ),
    ]


def to_csv(table: pd.DataFrame) -> bytes:
    """Return the table as UTF-8 CSV: numbers as computed, text cells safe for spreadsheets."""
    safe = table.copy()
    for column in safe.columns:
        if safe[column].dtype == object or pd.api.types.is_string_dtype(safe[column]):
            safe[column] = [
                neutralise(value) if isinstance(value, str) else value for value in safe[column]
            ]
    return safe.to_csv(index=False, lineterminator="\n").encode()


def _read_stylesheets() -> str:
    texts = []
    for name in STYLESHEETS:
        path = finders.find(name)
        if path is None:
            raise FileNotFoundError(f"The stylesheet {name} is missing from the static files.")
        texts.append(Path(path).read_text())
    return "\n".join(texts)
