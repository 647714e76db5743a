"""Tables that leave the platform: typed columns, a codebook, CSV streamed row by row."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum

# A spreadsheet runs a cell that begins with one of these as a formula; the full-width forms are
# turned into the narrow ones by some of them before they look.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
BYTE_ORDER_MARK = "\ufeff"
ROWS_PER_CHUNK = 500
LONGEST_VARIABLE = 32  # in Stata; R takes any length

Cell = str | int | float | bool | datetime | None


class ColumnType(Enum):
    TEXT = "text"
    NUMBER = "number"
    BOOLEAN = "true or false"
    TIME = "time"


@dataclass(frozen=True)
class Column:
    """``values`` says what can stand in a cell, ``meaning`` what it stands for."""

    name: str
    type: ColumnType
    values: str
    meaning: str


@dataclass(frozen=True)
class Table:
    """``load`` returns a fresh iterator over the rows each time, in a stable order."""

    name: str
    columns: Sequence[Column]
    load: Callable[[], Iterable[Sequence[Cell]]]


CODEBOOK_COLUMNS = (
    Column("column", ColumnType.TEXT, "name", "name of the column in the table"),
    Column("type", ColumnType.TEXT, "name", "kind of its values"),
    Column("values", ColumnType.TEXT, "text", "what can stand in it"),
    Column("meaning", ColumnType.TEXT, "text", "what it stands for"),
    Column("n_missing", ColumnType.NUMBER, "0 or more", "rows where it is empty"),
)


def neutralise(text: str) -> str:
    """Return ``text`` so that no spreadsheet takes it for a formula.

    An apostrophe goes before the first of ``= + - @``, tab and line ends, also behind blanks.
    """
    start = text.lstrip(" \u00a0")
    if text.startswith(FORMULA_STARTS) or start.startswith(FORMULA_STARTS):
        return f"'{text}"
    return text


def write_cell(value: Cell) -> str:
    """Return a cell's text; only texts are neutralised, a negative number stays a number."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return neutralise(value)


def name_variables(columns: Iterable[Column]) -> list[Column]:
    """Return columns under names that R and Stata take as they are, each different.

    Letters, digits and underscores, 32 characters at most; names that would become the same get a
    number behind them.
    """
    taken: set[str] = set()
    named = []
    for column in columns:
        plain = re.sub(r"[^0-9A-Za-z_]", "_", column.name)
        name, number = plain[:LONGEST_VARIABLE], 1
        while name.casefold() in taken:
            number += 1
            name = f"{plain[: LONGEST_VARIABLE - len(str(number)) - 1]}_{number}"
        taken.add(name.casefold())
        named.append(replace(column, name=name))
    return named


def stream_csv(table: Table, *, bom: bool = False) -> Iterator[bytes]:
    """Yield a table as UTF-8 CSV (RFC 4180) in chunks of some hundred rows.

    ``bom`` puts a byte order mark first: some spreadsheets need it to read UTF-8, programs do not.
    """
    return _stream(table, bom=bom, missing=None)


def stream_codebook(table: Table, *, bom: bool = False) -> Iterator[bytes]:
    """Yield the codebook of a table as CSV; reads the whole table to count what is missing."""
    missing = [0] * len(table.columns)
    for row in table.load():
        _count_missing(row, missing)
    yield from stream_csv(_build_codebook(table, missing), bom=bom)


def stream_zip(tables: Sequence[Table]) -> Iterator[bytes]:
    """Yield a ZIP with every table and its codebook; memory does not grow with the rows."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for table in tables:
            missing = [0] * len(table.columns)
            with archive.open(f"{table.name}.csv", "w", force_zip64=True) as member:
                for chunk in _stream(table, bom=False, missing=missing):
                    member.write(chunk)
                    yield sink.take()
            codebook = b"".join(stream_csv(_build_codebook(table, missing)))
            archive.writestr(f"{table.name}-codebook.csv", codebook)
            yield sink.take()
    yield sink.take()


def _stream(table: Table, *, bom: bool, missing: list[int] | None) -> Iterator[bytes]:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    if bom:
        buffer.write(BYTE_ORDER_MARK)
    writer.writerow([column.name for column in table.columns])
    for number, row in enumerate(table.load(), start=1):
        if len(row) != len(table.columns):
            raise ValueError(
                f"Row {number} of “{table.name}” has {len(row)} cells, expected "
                f"{len(table.columns)}."
            )
        if missing is not None:
            _count_missing(row, missing)
        writer.writerow([write_cell(value) for value in row])
        if number % ROWS_PER_CHUNK == 0:
            yield _take_text(buffer)
    yield _take_text(buffer)


def _take_text(buffer: io.StringIO) -> bytes:
    # Lone surrogates cannot be stored by every database, but a row must never break an export.
    chunk = buffer.getvalue().encode("utf-8", errors="replace")
    buffer.seek(0)
    buffer.truncate()
    return chunk


def _count_missing(row: Sequence[Cell], missing: list[int]) -> None:
    for place, value in enumerate(row):
        if value is None or value == "":
            missing[place] += 1


def _build_codebook(table: Table, missing: Sequence[int]) -> Table:
    rows = [
        (column.name, column.type.value, column.values, column.meaning, count)
        for column, count in zip(table.columns, missing, strict=True)
    ]
    return Table(f"{table.name}-codebook", CODEBOOK_COLUMNS, lambda: rows)


class _Sink(io.RawIOBase):
    """A file that cannot seek and gives away what was written to it."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        taken, self._parts = b"".join(self._parts), []
        return taken
