"""Reads files of texts and pairs: CSV, TSV and JSON lines, in UTF-8 with or without a mark.

Two layouts. *Pairs* have a column for each variety, named by it (AAL, WME) or ``source_text`` and
``target_text``; *texts* have ``text`` and may have ``variety``. Both may have ``id``, ``source``,
``context`` and ``split``. JSON lines may also carry ``spans``: a list of objects with start, end
and kind for texts; for pairs an object with such a list under each variety's name. Offsets count
characters (Unicode code points) of the text.

CSV is read as RFC 4180 has it, with commas or semicolons; TSV has no quoting, a quotation mark is
a character like any other. Bodies lose white space at both ends and keep it inside. Nothing here
touches the database: a file becomes rows and problems, and a caller decides.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from annotation.corpora.corpus_rows import (
    PAIR_COLUMNS,
    TEXT_COLUMNS,
    CorpusFileError,
    Layout,
    ParsedCorpus,
    Problem,
    Varieties,
    shorten,
)
from annotation.corpora.row_reader import Record, RowReader

LINE_END = re.compile(r"\r\n|\n|\r")


def parse_corpus_file(content: bytes, file_name: str, varieties: Varieties) -> ParsedCorpus:
    """Return every good row and every problem of a file.

    Raises `CorpusFileError` where the file as a whole cannot be read. Rows are checked one by one
    here; what several rows have to do with one another is `annotation.corpora.row_checks`.
    """
    suffix = PurePath(file_name).suffix.lower()
    text = _decode(content)
    if suffix in (".jsonl", ".ndjson"):
        records = list(_read_json_lines(text))
    elif suffix == ".csv":
        records = list(_read_csv(text, _find_delimiter(text)))
    elif suffix in (".tsv", ".tab"):
        records = list(_read_tsv(text))
    else:
        raise CorpusFileError(
            f"“{shorten(file_name)}” is of no kind that can be read, expected .csv, .tsv or .jsonl."
        )
    if not records:
        raise CorpusFileError("The file holds no row, expected at least one below its heading.")
    return _read_records(records, varieties)


def _decode(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise CorpusFileError("The file is UTF-16 text, expected UTF-8.")
    # Bytes that are no UTF-8 become halves of characters, so that their rows can be named.
    text = content.decode("utf-8", errors="surrogateescape").removeprefix("\ufeff")
    if not text.strip():
        raise CorpusFileError("The file is empty, expected texts or pairs of texts.")
    return text


def _find_delimiter(text: str) -> str:
    heading = text.lstrip("\r\n").splitlines()[0]
    return ";" if heading.count(";") > heading.count(",") else ","


def _read_csv(text: str, delimiter: str) -> Iterator[Record]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    before = 0

    def rows() -> Iterator[tuple[int, list[str]]]:
        nonlocal before
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise CorpusFileError(
                    f"The file breaks off at line {before + 1}: {error}. A quotation mark may be "
                    "open; in CSV a quotation mark within a quoted cell is written twice."
                ) from error
            line, before = before + 1, reader.line_num
            yield line, cells

    return _read_table(rows())


def _read_tsv(text: str) -> Iterator[Record]:
    lines = LINE_END.split(text)
    return _read_table((number, line.split("\t")) for number, line in enumerate(lines, start=1))


def _read_table(rows: Iterator[tuple[int, list[str]]]) -> Iterator[Record]:
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
        raise CorpusFileError(f"The heading has the column “{shown}” twice, expected once.")


def _read_json_lines(text: str) -> Iterator[Record]:
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
            yield Record(number, fault="is not a JSON object, expected one with named texts.")


def _read_records(records: list[Record], varieties: Varieties) -> ParsedCorpus:
    first = next((record for record in records if not record.fault), None)
    if first is None:
        raise CorpusFileError(f"No row can be read. Line {records[0].line} {records[0].fault}")
    layout = _find_layout(first.values, varieties)
    rows, problems = [], []
    for record in records:
        reader = RowReader(record, layout, varieties)
        row = reader.read()
        if row is not None:
            rows.append(row)
        problems += [Problem(record.line, fault) for fault in reader.faults]
    return ParsedCorpus(layout, tuple(rows), tuple(problems))


def _find_layout(columns: Iterable[str], varieties: Varieties) -> Layout:
    """Return the layout that a heading, or the names of the first JSON object, has."""
    expected = (
        f"expected “{varieties.source}” and “{varieties.target}” (or “source_text” and "
        "“target_text”) for pairs, or “text” and, where they differ, “variety” for single texts; "
        "beside them “id”, “source”, “context”, “split”"
    )
    held = []
    for column in columns:
        found = varieties.find_column(column)
        if found is None:
            raise CorpusFileError(
                f"The column “{shorten(column)}” is not known, {expected}, and in JSON lines "
                "“spans”. Rename or leave out what the corpus does not keep."
            )
        held.append(found)
    if len(set(held)) < len(held):
        raise CorpusFileError(f"Two columns hold the same, {expected}.")
    if set(PAIR_COLUMNS) <= set(held) and not set(TEXT_COLUMNS) & set(held):
        return Layout.PAIRS
    if "text" in held and not set(PAIR_COLUMNS) & set(held):
        return Layout.TEXTS
    raise CorpusFileError(f"The columns fit neither pairs nor texts, {expected}.")
