"""The formats in which a table leaves the platform, by the end of a file's name.

Written by hand after ECMA-376, because libraries keep a sheet until its end: a download shall begin
at once, and its memory shall not grow with the rows.
"""

from __future__ import annotations

import json
import math
import re
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from itertools import chain, islice
from pathlib import Path
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.common.lazy import np, pd
from annotation.common.tables import (
    Cell,
    Column,
    ColumnType,
    Sink,
    Table,
    build_codebook,
    count_missing,
    neutralize,
    stream_codebook,
    stream_csv,
    stream_json_lines,
    stream_zip,
    type_cell,
)

# --- A table as an Excel workbook that is streamed row by row, with its codebook on a sheet -------

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
    shown = ILLEGAL.sub("\ufffd", neutralize(text))
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


# --- A table as an SPSS file (.sav) with the labels of its variables and of their values ----------

#: The most cells of one file: it is built in memory, with some 12 bytes for each.
MOST_CELLS = 40_000_000
LONGEST_SPSS_TEXT = 32_767  # bytes, as all limits of SPSS
LONGEST_LABEL = 255
LONGEST_VALUE_LABEL = 120
#: Stands for a labeled word among numbers, such as “[declined]”; a missing value by declaration.
FIRST_WORD = -999_999
CHUNK = 1 << 20
FORMATS = {ColumnType.INTEGER: "F12.0", ColumnType.BOOLEAN: "F1.0", ColumnType.NUMBER: "F12.3"}
BOOLEAN_LABELS = {0: "no", 1: "yes"}


def stream_spss(table: Table) -> Iterator[bytes]:
    """Return a table as a compressed SPSS file in chunks; it is whole before the first of them.

    Texts are cut where SPSS ends, at 32,767 bytes. Raises `ValueError` above `MOST_CELLS`.
    """
    import pyreadstat

    cells = _read_columns(table)
    with tempfile.TemporaryDirectory(prefix="stereoscope-") as folder:
        path = Path(folder) / "table.sav"
        pyreadstat.write_sav(
            _build_frame(table.columns, cells),
            str(path),
            file_label=table.name[:60],
            column_labels={
                column.name: _cut(column.meaning, LONGEST_LABEL) for column in table.columns
            },
            variable_value_labels={
                column.name: labels for column in table.columns if (labels := _label(column))
            },
            missing_ranges={
                column.name: [{"lo": code, "hi": code} for code in words.values()]
                for column in table.columns
                if (words := _code_words(column))
            },
            variable_format={
                column.name: FORMATS[column.type]
                for column in table.columns
                if column.type in FORMATS
            },
            row_compress=True,
        )
        handle = path.open("rb")  # stays readable after its folder is gone
    return _spss_stream(handle)


def _spss_stream(handle: Any) -> Iterator[bytes]:
    with handle:
        while chunk := handle.read(CHUNK):
            yield chunk


def _read_columns(table: Table) -> list[list[Any]]:
    """Return the cells by column; equal texts are one object, so that they cost a reference."""
    columns: list[list[Any]] = [[] for _ in table.columns]
    texts: dict[str, str] = {}
    words = [_code_words(column) for column in table.columns]
    for number, row in enumerate(table.load(), start=1):
        if number * len(columns) > MOST_CELLS:
            raise ValueError(
                f"“{table.name}” has more than {MOST_CELLS:,} cells, which is the most of an SPSS "
                "file made here. Take CSV or Parquet."
            )
        for column, coded, found, cell in zip(table.columns, words, columns, row, strict=True):
            found.append(_type(column, coded, cell, texts))
    return columns


def _type(column: Column, words: dict[str, int], cell: Cell, texts: dict[str, str]) -> Any:
    if isinstance(cell, str) and cell in words:
        return float(words[cell])
    typed = type_cell(column, cell)
    if column.type == ColumnType.TEXT:
        text = _cut(str(typed or ""), LONGEST_SPSS_TEXT)
        return texts.setdefault(text, text)
    if column.type == ColumnType.TIME:
        return typed.replace(tzinfo=None) if typed else None  # type: ignore[union-attr, call-arg]
    return float("nan") if typed is None else float(typed)  # type: ignore[arg-type]


def _build_frame(columns: Sequence[Column], cells: list[list[Any]]) -> Any:
    """Return the data frame that the library writes; empties ``cells`` as it goes."""
    found = {}
    cells.reverse()
    for column in columns:
        if column.type == ColumnType.TEXT:
            found[column.name] = pd.Series(np.array(cells.pop(), dtype=object), dtype=object)
        elif column.type == ColumnType.TIME:
            found[column.name] = pd.Series(cells.pop(), dtype="datetime64[us]")
        else:
            found[column.name] = pd.Series(np.array(cells.pop(), dtype=float))
    return pd.DataFrame(found, copy=False)


def _code_words(column: Column) -> dict[str, int]:
    """Return the numbers that stand for the labeled words among a column's numbers."""
    if column.type not in {ColumnType.NUMBER, ColumnType.INTEGER}:
        return {}
    words = [value for value, _label in column.labels if isinstance(value, str)]
    return {word: FIRST_WORD - place for place, word in enumerate(words)}


def _label(column: Column) -> dict[Any, str]:
    if column.type == ColumnType.BOOLEAN:
        return dict(BOOLEAN_LABELS)
    words = _code_words(column)
    return {
        words.get(str(value), value): _cut(label, LONGEST_VALUE_LABEL)
        for value, label in column.labels
    }


def _cut(text: str, most: int) -> str:
    """Return the beginning of a text that takes ``most`` bytes of UTF-8 at the utmost."""
    return text if len(text) * 4 <= most else text.encode()[:most].decode(errors="ignore")


# --- A table as Apache Parquet that is streamed in row groups and carries its codebook ------------

CELLS_PER_GROUP = 200_000
FEWEST_ROWS = 100


def stream_parquet(table: Table) -> Iterator[bytes]:
    """Yield a table as Parquet; memory grows with its columns, not with its rows.

    Every field has its meaning, values and labels as metadata. A cell that does not fit its
    column's type, such as “[declined]” among numbers, is null.
    """
    import pyarrow as pa
    from pyarrow import parquet

    kinds: dict[ColumnType, Any] = {
        ColumnType.TEXT: pa.string(),
        ColumnType.NUMBER: pa.float64(),
        ColumnType.INTEGER: pa.int64(),
        ColumnType.BOOLEAN: pa.bool_(),
        ColumnType.TIME: pa.timestamp("ms", tz="UTC"),
    }
    columns = table.columns
    schema = pa.schema(
        [
            pa.field(column.name, kinds[column.type], metadata=_describe(column))
            for column in columns
        ],
        metadata={"title": table.name},
    )
    per_group = max(FEWEST_ROWS, CELLS_PER_GROUP // max(1, len(columns)))
    rows, sink = iter(table.load()), Sink()
    with parquet.ParquetWriter(pa.PythonFile(sink, mode="w"), schema) as writer:
        while group := list(islice(rows, per_group)):
            arrays = [
                pa.array([type_cell(column, cell) for cell in cells], type=field.type)
                for column, field, cells in zip(
                    columns, schema, zip(*group, strict=True), strict=True
                )
            ]
            writer.write_batch(pa.record_batch(arrays, schema=schema))
            yield sink.take()
    yield sink.take()


def _describe(column: Column) -> dict[str, str]:
    found = {"label": column.meaning, "values": column.values, "key": column.key}
    if column.labels:
        found["labels"] = json.dumps({str(value): label for value, label in column.labels})
    return {name: text for name, text in found.items() if text}


Stream = Callable[[Sequence[Table], bool], Iterator[bytes]]


@dataclass(frozen=True)
class TableFormat:
    """``stream`` takes tables, of which all formats but ZIP write the first one, and whether a byte
    order mark is wanted; it raises `ValueError` for a table that the format cannot hold."""

    end: str
    label: Any
    media_type: str
    stream: Stream


TABLE_FORMATS = {
    found.end: found
    for found in (
        TableFormat(
            ".csv",
            "CSV",
            "text/csv; charset=utf-8",
            lambda tables, bom: stream_csv(tables[0], bom=bom),
        ),
        TableFormat(
            ".xlsx",
            "Excel",
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            lambda tables, bom: stream_workbook(tables[0]),
        ),
        TableFormat(
            ".sav", "SPSS", "application/x-spss-sav", lambda tables, bom: stream_spss(tables[0])
        ),
        TableFormat(
            ".parquet",
            "Parquet",
            "application/vnd.apache.parquet",
            lambda tables, bom: stream_parquet(tables[0]),
        ),
        TableFormat(
            ".jsonl",
            _("JSON lines"),
            "application/x-ndjson; charset=utf-8",
            lambda tables, bom: stream_json_lines(tables[0]),
        ),
        TableFormat(
            "-codebook.csv",
            _("Codebook"),
            "text/csv; charset=utf-8",
            lambda tables, bom: stream_codebook(tables[0], bom=bom),
        ),
        TableFormat(
            ".zip",
            _("ZIP with codebook"),
            "application/zip",
            lambda tables, bom: stream_zip(tables),
        ),
    )
}


def split_file_name(name: str) -> tuple[str, TableFormat]:
    """Return the name of a table and its format. Raises `KeyError` for an unknown ending."""
    ends = [end for end in TABLE_FORMATS if name.endswith(end)]
    if not ends:
        raise KeyError(name)
    end = max(ends, key=len)
    return name.removesuffix(end), TABLE_FORMATS[end]
