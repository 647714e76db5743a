"""A report's tables as a workbook: one sheet for each table, numbers as numbers."""

from __future__ import annotations

import io
import math
import re
import zipfile
from datetime import UTC, datetime
from typing import Any

import numpy as np
from openpyxl import Workbook
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter

from annotation.common.lazy import pd
from annotation.common.tables import neutralize
from evaluation.models import Report
from evaluation.reports.parts.document import Document

SHEET_NAME_LENGTH = 31
WIDEST_COLUMN = 60
LONGEST_TEXT = 32_767
# The oldest date that a ZIP file can hold: a workbook's bytes must not depend on when it is made.
ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
_MODIFIED = re.compile(rb"(<dcterms:modified[^>]*>)[^<]*(</dcterms:modified>)")


def render_workbook(report: Report, document: Document) -> bytes:
    """Return the XLSX file; the first sheet says what it is and lists the others."""
    book = Workbook()
    built = (report.built_at or datetime(1980, 1, 1, tzinfo=UTC)).astimezone(UTC)
    book.properties.creator = "Stereoscope"
    book.properties.title = document.title
    book.properties.created = built.replace(tzinfo=None)
    cover = book.active
    cover.title = "Report"
    _fill_cover(cover, report, document)
    for table in document.tables:
        _fill_sheet(book.create_sheet(table.name[:SHEET_NAME_LENGTH]), table.frame)
    buffer = io.BytesIO()
    book.save(buffer)
    return _make_reproducible(buffer.getvalue(), built)


def _fill_cover(sheet: Any, report: Report, document: Document) -> None:
    lines: list[tuple[str, str]] = [
        ("Title", document.title),
        ("Question", document.question),
        *(("Note", banner) for banner in document.banners),
        *(("Sheet " + table.name[:SHEET_NAME_LENGTH], table.title) for table in document.tables),
        *(("Caveat", caveat) for caveat in document.caveats),
        *(
            (name, ", ".join(part for part in (text, code) if part))
            for column in document.provenance
            for name, text, code in column
        ),
    ]
    for row, (name, text) in enumerate(lines, start=1):
        sheet.cell(row, 1, _safe(name)).font = Font(bold=True)
        sheet.cell(row, 2, _safe(text)).alignment = Alignment(wrap_text=True, vertical="top")
    sheet.column_dimensions["A"].width = 20
    sheet.column_dimensions["B"].width = 100


def _fill_sheet(sheet: Any, frame: pd.DataFrame) -> None:
    for place, name in enumerate(frame.columns, start=1):
        sheet.cell(1, place, _safe(str(name))).font = Font(bold=True)
        longest = max([len(str(name)), *(len(str(value)) for value in frame[name])], default=0)
        sheet.column_dimensions[get_column_letter(place)].width = min(longest + 2, WIDEST_COLUMN)
    for row, values in enumerate(frame.itertuples(index=False, name=None), start=2):
        for place, value in enumerate(values, start=1):
            found = _cell(value)
            if found is not None:
                sheet.cell(row, place, found)
    sheet.freeze_panes = "B2"


def _cell(value: Any) -> Any:
    """Return a cell's value: numbers as they are, missing ones as nothing, texts made safe."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or value is pd.NA or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool | int | float):
        return value
    return _safe(str(value))


def _safe(text: str) -> str:
    return neutralize(ILLEGAL_CHARACTERS_RE.sub("\ufffd", text))[:LONGEST_TEXT]


def _make_reproducible(content: bytes, built: datetime) -> bytes:
    """Replace the times at which the file was written by the time at which the report was built."""
    stamp = built.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(content)) as old,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for member in old.infolist():
            data = old.read(member)
            if member.filename == "docProps/core.xml":
                data = _MODIFIED.sub(rb"\g<1>" + stamp + rb"\g<2>", data)
            info = zipfile.ZipInfo(member.filename, ZIP_EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(info, data)
    return buffer.getvalue()
