"""Tables that leave the platform: typed columns, a codebook, CSV streamed row by row."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum

from django.db.models import Choices

# A spreadsheet runs a cell that begins with one of these as a formula; the full-width forms are
# turned into the narrow ones by some of them before they look.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
BYTE_ORDER_MARK = "\ufeff"
ROWS_PER_CHUNK = 500
LONGEST_VARIABLE = 32  # in Stata; SPSS takes 64 bytes, R any length
# Words that R, Stata or SPSS keep for themselves, in whatever case.
RESERVED_NAMES = frozenset([
    "all", "and", "break", "byte", "by", "double", "else", "eq", "false", "float", "for",
    "function", "ge", "gt", "if", "in", "inf", "int", "le", "long", "lt", "na", "nan", "ne",
    "next", "not", "null", "or", "repeat", "strl", "to", "true", "using", "while", "with"
])  # fmt: skip

Cell = str | int | float | bool | datetime | None


class ColumnType(Enum):
    TEXT = "text"
    NUMBER = "number"
    INTEGER = "whole number"
    BOOLEAN = "true or false"
    TIME = "time"


@dataclass(frozen=True)
class Column:
    """``values`` says what can stand in a cell, ``meaning`` what it stands for.

    ``labels`` name single values; a text that has one may stand among numbers. ``key`` is what the
    platform calls the column, where that cannot be the name of a variable.
    """

    name: str
    type: ColumnType
    values: str
    meaning: str
    labels: tuple[tuple[str | int, str], ...] = ()
    key: str = ""


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
    Column("n_missing", ColumnType.INTEGER, "0 or more", "rows where it is empty"),
    Column("labels", ColumnType.TEXT, "value: label; …", "what single values are called"),
    Column("key", ColumnType.TEXT, "text", "its name on the platform, if no variable can have it"),
)


def choice_column(name: str, choices: type[Choices], meaning: str) -> Column:
    """Return a column of the values of ``choices``, labeled as pages call them."""
    labels = tuple((str(value), str(label)) for value, label in choices.choices)
    values = ", ".join(str(value) for value in choices.values)
    return Column(name, ColumnType.TEXT, values, meaning, labels)


def neutralize(text: str) -> str:
    """Return ``text`` so that no spreadsheet takes it for a formula.

    An apostrophe goes before the first of ``= + - @``, tab and line ends, also behind blanks.
    """
    start = text.lstrip(" \u00a0")
    if text.startswith(FORMULA_STARTS) or start.startswith(FORMULA_STARTS):
        return f"'{text}"
    return text


def write_cell(value: Cell) -> str:
    """Return a cell's text; only texts are neutralized, a negative number stays a number."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return neutralize(value)


def type_cell(column: Column, value: Cell) -> Cell:
    """Return a cell as its column's type, for files that know types; None: it does not fit.

    Times are in UTC without parts of a second, as in CSV; texts hold nothing that UTF-8 cannot.
    """
    if value is None or value == "":
        return None
    if column.type == ColumnType.TEXT:
        text = value if isinstance(value, str) else write_cell(value)
        return text.replace("\0", "").encode("utf-8", errors="replace").decode()
    if column.type == ColumnType.TIME:
        return value.astimezone(UTC).replace(microsecond=0) if isinstance(value, datetime) else None
    if column.type == ColumnType.BOOLEAN:
        return value if isinstance(value, bool) else None
    return value if isinstance(value, int | float) else None


def name_variables(
    columns: Iterable[Column], *, longest: int = LONGEST_VARIABLE, taken: Iterable[str] = ()
) -> list[Column]:
    """Return columns under names that R, Stata and SPSS take as they are, each different.

    A letter, then letters, digits and underscores, ``longest`` characters at most, and no word that
    these programs keep for themselves; names that would become the same, or one that is ``taken``,
    get a number behind them. The name before becomes the ``key`` of a column that lost it.
    """
    used = {name.casefold() for name in taken}
    named = []
    for column in columns:
        plain = re.sub(r"[^0-9A-Za-z_]", "_", column.name)
        if not plain[:1].isalpha() or plain.casefold() in RESERVED_NAMES:
            plain = f"v_{plain}"
        name, number = plain[:longest], 1
        while name.casefold() in used:
            number += 1
            name = f"{plain[: longest - len(str(number)) - 1]}_{number}"
        used.add(name.casefold())
        key = column.key or (column.name if column.name != name else "")
        named.append(replace(column, name=name, key=key))
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
        count_missing(row, missing)
    yield from stream_csv(build_codebook(table, missing), bom=bom)


def stream_zip(tables: Sequence[Table]) -> Iterator[bytes]:
    """Yield a ZIP with every table and its codebook; memory does not grow with the rows."""
    sink = Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for table in tables:
            missing = [0] * len(table.columns)
            with archive.open(f"{table.name}.csv", "w", force_zip64=True) as member:
                for chunk in _stream(table, bom=False, missing=missing):
                    member.write(chunk)
                    yield sink.take()
            codebook = b"".join(stream_csv(build_codebook(table, missing)))
            archive.writestr(f"{table.name}-codebook.csv", codebook)
            yield sink.take()
    yield sink.take()


def stream_json_lines(table: Table) -> Iterator[bytes]:
    """Yield a table as one JSON object a line, in UTF-8; texts are as they were written."""
    names = [column.name for column in table.columns]
    for row in table.load():
        cells = (write_cell(cell) if isinstance(cell, datetime) else cell for cell in row)
        line = json.dumps(dict(zip(names, cells, strict=True)), ensure_ascii=False)
        yield f"{line}\n".encode("utf-8", errors="replace")


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
            count_missing(row, missing)
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


def count_missing(row: Sequence[Cell], missing: list[int]) -> None:
    """Add 1 to the places of ``missing`` where the row is empty."""
    for place, value in enumerate(row):
        if value is None or value == "":
            missing[place] += 1


def build_codebook(table: Table, missing: Sequence[int]) -> Table:
    """Return the codebook of a table, of which ``missing`` counts the empty cells by column."""
    rows = [
        (
            column.name,
            column.type.value,
            column.values,
            column.meaning,
            count,
            "; ".join(f"{value}: {label}" for value, label in column.labels),
            column.key,
        )
        for column, count in zip(table.columns, missing, strict=True)
    ]
    return Table(f"{table.name}-codebook", CODEBOOK_COLUMNS, lambda: rows)


class Sink(io.RawIOBase):
    """A file that cannot seek and gives away what was written to it."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def write(self, data: bytes) -> int:  # type: ignore[override]
        self._parts.append(bytes(data))
        self._size += len(data)
        return len(data)

    def take(self) -> bytes:
        """Return what was written since the last time."""
        taken, self._parts = b"".join(self._parts), []
        return taken
