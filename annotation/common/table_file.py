"""Reads tables: CSV, TSV and JSON lines in UTF-8, with or without a mark, into numbered rows.

CSV is read as RFC 4180 has it, with commas or semicolons; TSV has no quoting, a quotation mark is
a character like any other. A row that has too many or too few cells is kept with its fault, so that
every bad row can be told at once.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from annotation.common.text_shortening import shorten

LINE_END = re.compile(r"\r\n|\n|\r")
# Line ends and tabs are text; other control characters and halves of broken ones are not.
CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
BROKEN = re.compile(r"[\ud800-\udfff]")
LONGEST_REASON = 100
DIGEST_SHOWN = 16


class TableFileError(ValueError):
    """A file that cannot be read at all; the message says where and what was expected."""


@dataclass(frozen=True)
class Record:
    """One row as it stands in the file: values by column, or what is wrong with it already."""

    line: int
    values: Mapping[str, Any] = field(default_factory=dict)
    fault: str = ""


@dataclass(frozen=True)
class Problem:
    """One bad row: the line of the file where it begins, and what is wrong with it."""

    line: int
    message: str

    def __str__(self) -> str:
        return f"Line {self.line}: {self.message}"


def describe_import(content: bytes, file_name: str) -> str:
    """Return what the history says of rows from this file: its name, and how its hash begins."""
    digest = hashlib.sha256(content).hexdigest()[:DIGEST_SHOWN]
    shown = file_name[: LONGEST_REASON - DIGEST_SHOWN - len("Imported , SHA-256 …")]
    return f"Imported {shown}, SHA-256 {digest}…"


def text_fault(text: str) -> str:
    """Return what keeps a text from being one, empty for a good one."""
    if BROKEN.search(text):
        return "is not UTF-8 text."
    return "holds a control character, expected plain text." if CONTROL.search(text) else ""


def plain_heading(heading: str) -> str:
    """Return a heading as names of columns are written, whatever its case, spaces and hyphens."""
    return "_".join(heading.casefold().replace("-", " ").split())


def read_table(content: bytes, file_name: str, *, or_json_lines: bool = False) -> list[Record]:
    """Return the rows of a .csv, .tsv or .tab file, without its heading.

    or_json_lines : takes .jsonl and .ndjson as well

    Raises `TableFileError` where the file as a whole cannot be read.
    """
    readers = {".csv": read_csv, ".tsv": read_tsv, ".tab": read_tsv}
    if or_json_lines:
        readers |= {".jsonl": read_json_lines, ".ndjson": read_json_lines}
    read = readers.get(PurePath(file_name).suffix.lower())
    if read is None:
        expected = ".csv, .tsv or .jsonl" if or_json_lines else ".csv or .tsv"
        raise TableFileError(
            f"“{shorten(file_name)}” is of no kind that can be read, expected {expected}."
        )
    records = list(read(decode(content)))
    if not records:
        raise TableFileError("The file holds no row, expected at least one below its heading.")
    return records


def decode(content: bytes) -> str:
    """Return the text of a file; bytes that are no UTF-8 become halves of characters.

    So their rows can be named. Raises `TableFileError` for an empty file and for UTF-16.
    """
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise TableFileError("The file is UTF-16 text, expected UTF-8.")
    text = content.decode("utf-8", errors="surrogateescape").removeprefix("\ufeff")
    if not text.strip():
        raise TableFileError("The file is empty, expected a heading and rows.")
    return text


def read_csv(text: str) -> Iterator[Record]:
    """Yield the rows of CSV text."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_find_delimiter(text), strict=True)
    before = 0

    def rows() -> Iterator[tuple[int, list[str]]]:
        nonlocal before
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise TableFileError(
                    f"The file breaks off at line {before + 1}: {error}. A quotation mark may be "
                    "open; in CSV a quotation mark within a quoted cell is written twice."
                ) from error
            line, before = before + 1, reader.line_num
            yield line, cells

    return _read_rows(rows())


def read_tsv(text: str) -> Iterator[Record]:
    """Yield the rows of TSV text."""
    lines = LINE_END.split(text)
    return _read_rows((number, line.split("\t")) for number, line in enumerate(lines, start=1))


def read_json_lines(text: str) -> Iterator[Record]:
    """Yield the JSON objects of a text with one on each line."""
    for number, line in enumerate(LINE_END.split(text), start=1):
        if not line.strip():
            continue
        try:
            loaded = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = error.msg if isinstance(error, json.JSONDecodeError) else "cannot be read"
            yield Record(number, fault=f"is not JSON: {what}.")
            continue
        if isinstance(loaded, dict):
            yield Record(number, loaded)
        else:
            yield Record(number, fault="is not a JSON object, expected one with named values.")


def _find_delimiter(text: str) -> str:
    heading = text.lstrip("\r\n").splitlines()[0]
    return ";" if heading.count(";") > heading.count(",") else ","


def _read_rows(rows: Iterator[tuple[int, list[str]]]) -> Iterator[Record]:
    columns: list[str] | None = None
    for line, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue  # a blank line separates, it is no row
        if columns is None:
            columns = [cell.strip() for cell in cells]
            _check_heading(columns)
        elif len(cells) != len(columns):
            yield Record(
                line, fault=f"has {len(cells)} cells, expected {len(columns)} as in the heading."
            )
        else:
            yield Record(line, dict(zip(columns, cells, strict=True)))


def _check_heading(columns: list[str]) -> None:
    lowered = [column.casefold() for column in columns]
    doubled = next((name for name in lowered if lowered.count(name) > 1), None)
    if doubled is not None:
        shown = shorten(doubled) or "(without a name)"
        raise TableFileError(f"The heading has the column “{shown}” twice, expected once.")
