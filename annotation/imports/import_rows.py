"""Reads rows of files by the columns of a kind of import."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotation.common.table_file import (
    JSON_LIKE,
    Heading,
    Problem,
    Record,
    TableFileError,
    list_columns,
    plain_heading,
    read_table,
    text_fault,
)
from annotation.common.text_shortening import shorten
from annotation.imports.import_kind import ImportColumn
from annotation.library.library_kind import restore_cell

LONGEST_TEXT = 20_000
# What programs write in place of a number that is missing, if it is far beyond the others.
PLACEHOLDER = re.compile(r"[+-]?9{2,}(\.0*)?")
FAR_BEYOND = 10


class MissingColumnError(TableFileError):
    """A needed column is not among a file's; the one who brings it can name it."""


@dataclass
class ImportRow:
    """One row by the names of its columns; what is wrong with it gathers in `faults`."""

    line: int
    values: Mapping[str, Any]
    faults: list[str] = field(default_factory=list)

    @property
    def problems(self) -> list[Problem]:
        return [Problem(self.line, fault) for fault in self.faults]

    def text(
        self,
        name: str,
        *,
        longest: int = LONGEST_TEXT,
        needed: bool = False,
        as_written: bool = False,
    ) -> str:
        """Return a text, empty where there is none; without white space at its ends, unless it is
        wanted as written."""
        value = self.values.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is None:
            value = ""
        if not isinstance(value, str):
            self.faults.append(f"“{name}” is {shorten(str(value))}, expected a text.")
            return ""
        value = value if as_written and value.strip() else value.strip()
        if fault := text_fault(value):
            self.faults.append(f"“{name}” {fault}")
        elif len(value) > longest:
            self.faults.append(f"“{name}” has {len(value):,} characters, expected {longest:,}.")
        elif needed and not value:
            self.faults.append(f"“{name}” is empty, expected a text.")
        return value

    def number(self, name: str) -> float | None:
        """Return a finite number, None where there is none."""
        value = self.values.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            return None
        try:
            number = float(value) if not isinstance(value, bool) else math.nan
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number):
            written = " with a decimal point" if "," in str(value) else ""
            self.faults.append(f"“{name}” is “{shorten(str(value))}”, expected a number{written}.")
            return None
        return number

    def whole(self, name: str, *, least: int = 0, most: int = 2**31 - 1) -> int | None:
        """Return a whole number between two others, None where there is none."""
        number = self.number(name)
        if number is None:
            return None
        if number != int(number) or not least <= number <= most:
            self.faults.append(
                f"“{name}” is {number:g}, expected a whole number from {least} to {most}."
            )
            return None
        return int(number)


@dataclass(frozen=True)
class ReadRows:
    """Rows in the file's order, what could not be read, and columns that nothing is read from."""

    rows: list[ImportRow]
    problems: list[Problem]
    unread: tuple[str, ...]
    notices: tuple[str, ...] = ()

    @property
    def told_problems(self) -> tuple[str, ...]:
        """Every problem as a line, in the file's order."""
        found = [*self.problems, *(problem for row in self.rows for problem in row.problems)]
        return tuple(str(problem) for problem in sorted(found, key=lambda one: one.line))

    @property
    def warnings(self) -> tuple[str, ...]:
        if not self.unread:
            return self.notices
        unread = ", ".join(shorten(name) or "(without a name)" for name in self.unread)
        return (*self.notices, f"Nothing is read from: {unread}.")

    def refuse_placeholders(self, name: str) -> None:
        """Note rows whose number is -9999 or the like, ten times any other of the file."""
        numbers: list[float] = []
        found: list[tuple[ImportRow, str]] = []
        for row in self.rows:
            said = str(row.values.get(name) or "").strip()
            if PLACEHOLDER.fullmatch(said):
                found.append((row, said))
            elif (number := ImportRow(row.line, row.values).number(name)) is not None:
                numbers.append(abs(number))
        most = max(numbers, default=math.inf)
        for row, said in found:
            if abs(float(said)) > FAR_BEYOND * most:
                row.faults.append(
                    f"“{name}” is {said}, which stands for a missing number: the others are "
                    f"{most:g} at most. Leave the cell empty, and say why in “reason”."
                )

    def the_one(self, name: str) -> str:
        """Return what every row says of the file as a whole, empty where none says it.

        Raises `TableFileError` where rows differ.
        """
        said = {str(row.values.get(name) or "").strip() for row in self.rows} - {""}
        if len(said) > 1:
            listed = " and ".join(f"“{shorten(text)}”" for text in sorted(said)[:2])
            raise TableFileError(f"“{name}” is {listed}. Import one {name} at a time.")
        return said.pop() if said else ""


def read_rows(
    content: bytes,
    file_name: str,
    columns: Sequence[ImportColumn],
    *,
    ignored: Iterable[str] = (),
    heading: Heading | None = None,
    more: Callable[[str], bool] | None = None,
) -> ReadRows:
    """Return the rows of a file.

    ignored : columns of our own downloads that say nothing new
    heading : which columns of other names hold what
    more : whether a further column is read, under its own name

    Raises `TableFileError` for a file that cannot be read, or lacks a needed column.
    """
    heading = heading or Heading()
    known = [column.name for column in columns]
    if unknown := next((name for name in heading.columns if name not in known), ""):
        raise TableFileError(f"“{shorten(unknown)}” is not known, expected {', '.join(known)}.")
    table = read_table(content, file_name, or_json=True, heading=heading)
    records, is_table = table.records, not file_name.lower().endswith(JSON_LIKE)
    names = {
        spelling: column.name
        for column in columns
        for spelling in (column.name, *column.other_names)
    }
    given = dict.fromkeys(name for record in records for name in record.values)
    found = {
        name: name if name in heading.columns else names.get(plain_heading(name)) for name in given
    }
    for name in [name for name in given if name not in heading.columns]:
        if found[name] in heading.columns:
            found[name] = None  # another column was named for it
        elif found[name] is None and more is not None and more(name):
            found[name] = name
    _check_columns(columns, found)
    rows = [_read(record, found, is_table=is_table) for record in records if not record.fault]
    return ReadRows(
        rows,
        [Problem(record.line, record.fault) for record in records if record.fault],
        tuple(
            sorted(
                name
                for name, column in found.items()
                if not column and plain_heading(name) not in ignored
            )
        ),
        table.notices,
    )


def _check_columns(columns: Sequence[ImportColumn], found: Mapping[str, str | None]) -> None:
    held = [name for name in found.values() if name]
    if doubled := next((name for name in held if held.count(name) > 1), None):
        raise TableFileError(f"Two columns hold “{doubled}”, expected one.")
    needed = [column.name for column in columns if column.needed]
    if missing := [name for name in needed if name not in held]:
        others = [column.name for column in columns if not column.needed]
        raise MissingColumnError(
            f"There is no column {' and no '.join(f'“{name}”' for name in missing)}. "
            f"{list_columns(found)} Needed: {', '.join(needed)}; also read: {', '.join(others)}. "
            f"If a column has another name, say so: {missing[0]}=ITS NAME."
        )


def _read(record: Record, found: Mapping[str, str | None], *, is_table: bool) -> ImportRow:
    # Tables carry an apostrophe before what a spreadsheet would take for a formula.
    values = {
        column: restore_cell(value) if is_table and isinstance(value, str) else value
        for heading, value in record.values.items()
        if (column := found[heading])
    }
    return ImportRow(record.line, values)
