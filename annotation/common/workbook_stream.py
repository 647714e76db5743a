"""A table as an Excel workbook that is streamed row by row, with its codebook on a sheet.

Written by hand after ECMA-376, because libraries keep a sheet until its end: a download shall begin
at once, and its memory shall not grow with the rows.
"""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from itertools import chain, islice

from annotation.common.tables import (
    Cell,
    Sink,
    Table,
    build_codebook,
    count_missing,
    neutralise,
)

ROWS_PER_SHEET = 1_048_575  # and the head; what follows goes on on another sheet
MOST_COLUMNS = 16_384
LONGEST_TEXT = 32_767
ROWS_PER_CHUNK = 500
EPOCH = datetime(1899, 12, 30, tzinfo=UTC)
SECONDS_PER_DAY = 86_400
# What XML 1.0 cannot hold.
ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")

_HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_EMPTY, _BOLD, _TIME = "<c/>", 1, 2
# Styles by their place: plain, bold, date with time.
_STYLES = (
    f'{_HEAD}<styleSheet xmlns="{_MAIN}"><numFmts count="1"><numFmt numFmtId="164" '
    'formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="2"><font><sz val="11"/>'
    '<name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill '
    'patternType="gray125"/></fill></fills><borders count="1"><border/></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3"><xf/><xf fontId="1" '
    'applyFont="1"/><xf numFmtId="164" applyNumberFormat="1"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
    "</styleSheet>"
)


def stream_workbook(table: Table) -> Iterator[bytes]:
    """Return a table as XLSX in chunks: the data, on several sheets if need be, and a codebook.

    Texts that a spreadsheet would run as a formula get an apostrophe, as in CSV; longer ones than a
    cell can hold are cut. Raises `ValueError` before the first chunk for too many columns.
    """
    if len(table.columns) > MOST_COLUMNS:
        raise ValueError(
            f"“{table.name}” has {len(table.columns):,} columns, an Excel sheet holds "
            f"{MOST_COLUMNS:,}. Take CSV or Parquet."
        )
    return _stream(table)


def _stream(table: Table) -> Iterator[bytes]:
    sink, names = Sink(), list[str]()
    missing = [0] * len(table.columns)
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:

        def add_sheet(name: str, part: Table, rows: Iterable[Sequence[Cell]]) -> Iterator[bytes]:
            names.append(name)
            path = f"xl/worksheets/sheet{len(names)}.xml"
            with archive.open(path, "w", force_zip64=True) as member:
                for chunk in _write_sheet(part, rows):
                    member.write(chunk.encode())
                    yield sink.take()

        rows = _counted(table, missing)
        first = next(rows, None)
        while first is not None or not names:
            found = chain([first] if first is not None else [], islice(rows, ROWS_PER_SHEET - 1))
            name = f"{table.name} {len(names) + 1}" if names else table.name
            yield from add_sheet(name, table, found)
            first = next(rows, None)
        codebook = build_codebook(table, missing)
        yield from add_sheet("codebook", codebook, codebook.load())
        for path, content in _describe_package(names):
            archive.writestr(path, content)
    yield sink.take()


def _counted(table: Table, missing: list[int]) -> Iterator[Sequence[Cell]]:
    for row in table.load():
        count_missing(row, missing)
        yield row


def _write_sheet(table: Table, rows: Iterable[Sequence[Cell]]) -> Iterator[str]:
    """Yield a sheet: a head that stays in sight, and a row for each of ``rows``."""
    names = [column.name for column in table.columns]
    widths = "".join(
        f'<col min="{place}" max="{place}" width="{max(10, len(name) + 2)}" customWidth="1"/>'
        for place, name in enumerate(names, start=1)
    )
    head = "".join(_write_text(name, _BOLD) for name in names)
    yield (
        f'{_HEAD}<worksheet xmlns="{_MAIN}"><sheetViews><sheetView workbookViewId="0">'
        '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView>'
        f"</sheetViews><cols>{widths}</cols><sheetData><row>{head}</row>"
    )
    rows = iter(rows)
    while chunk := list(islice(rows, ROWS_PER_CHUNK)):
        yield "".join(f"<row>{''.join(map(_write_cell, row))}</row>" for row in chunk)
    yield "</sheetData></worksheet>"


def _write_cell(value: Cell) -> str:
    if value is None or value == "":
        return _EMPTY
    if isinstance(value, bool):
        return f'<c t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f"<c><v>{value!r}</v></c>" if math.isfinite(value) else _write_text(repr(value))
    if isinstance(value, datetime):
        days = int((value - EPOCH).total_seconds()) / SECONDS_PER_DAY
        return f'<c s="{_TIME}"><v>{days!r}</v></c>'
    return _write_text(value)


def _write_text(text: str, style: int = 0) -> str:
    shown = ILLEGAL.sub("\ufffd", neutralise(text))
    if len(shown) > LONGEST_TEXT:
        shown = f"{shown[: LONGEST_TEXT - 1]}…"
    # As a reference: a reader would make a line feed of a bare carriage return.
    safe = escape(shown, quote=False).replace("\r", "&#13;")
    return f'<c s="{style}" t="inlineStr"><is><t xml:space="preserve">{safe}</t></is></c>'


def _describe_package(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the parts of the file that say what its sheets are."""
    places = range(1, len(names) + 1)
    kinds = "".join(
        f'<Override PartName="/xl/{path}.xml" ContentType="{_TYPE}.{kind}+xml"/>'
        for path, kind in [
            ("workbook", "sheet.main"),
            ("styles", "styles"),
            *((f"worksheets/sheet{place}", "worksheet") for place in places),
        ]
    )
    yield (
        "[Content_Types].xml",
        f'{_HEAD}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" ContentType='
        '"application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" '
        f'ContentType="application/xml"/>{kinds}</Types>',
    )
    yield "_rels/.rels", _relate([("officeDocument", "xl/workbook.xml")])
    sheets = "".join(
        f'<sheet name="{escape(name)}" sheetId="{place}" r:id="rId{place}"/>'
        for place, name in enumerate(names, start=1)
    )
    yield (
        "xl/workbook.xml",
        f'{_HEAD}<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets>'
        "</workbook>",
    )
    targets = [("worksheet", f"worksheets/sheet{place}.xml") for place in places]
    yield "xl/_rels/workbook.xml.rels", _relate([*targets, ("styles", "styles.xml")])
    yield "xl/styles.xml", _STYLES


def _relate(targets: Iterable[tuple[str, str]]) -> str:
    lines = "".join(
        f'<Relationship Id="rId{place}" Type="{_OFFICE}/{kind}" Target="{target}"/>'
        for place, (kind, target) in enumerate(targets, start=1)
    )
    return f'{_HEAD}<Relationships xmlns="{_PACKAGE}/relationships">{lines}</Relationships>'
