"""Reads sentences from a file as a stream: lines of text, a table's column, or JSON lines.

A file is read once and never kept: a run keeps the sentences that were drawn, and the SHA-256 of
all of them. White space at both ends of a sentence goes; blank lines are left out. Excel, JSON
arrays, Parquet and UTF-16 are read whole, as `annotation.common.table_file` reads them.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from pathlib import PurePath
from typing import Any

from annotation.common.table_file import WESTERN, TableFileError, decode, read_table
from annotation.common.text_shortening import shorten
from probing.runs.errors import RunError

#: Names of the column, or of the JSON object's entry, that holds the sentence.
COLUMNS = ("sentence", "text")
LONGEST_SENTENCE = 10_000
LONGEST_NAME = 160
KINDS = (
    ".txt (one sentence a line), .tsv, .csv, .xlsx or .parquet (with a column “sentence” or "
    "“text”), .json or .jsonl"
)
_LINE_ENDS = re.compile(r"[\r\n]+")
# PostgreSQL stores no null character; the others stand for damage or for another encoding.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class GivenSentences:
    """Sentences that come with a request: read once, from beginning to end.

    name : as the run and its reports print it, such as the file's
    notices : what was assumed of the file, once it has been read
    """

    name: str
    sentences: Iterable[str]
    notices: list[str] = field(default_factory=list)


def open_sentences(lines: Iterable[bytes], *, file_name: str, column: str = "") -> GivenSentences:
    """Return the sentences of a file; ``lines`` are its lines with their ends.

    column : the column that holds them; empty for “sentence” or “text”

    Raises :class:`RunError` for a kind of file that is not known, and while it is read where a line
    is no sentence: then nothing of it is used.
    """
    name = PurePath(file_name).name
    suffix = PurePath(file_name).suffix.lower()
    if suffix not in SUFFIXES:
        raise _error(f"“{shorten(name)}” cannot be read. Give a file of the kind {KINDS}.")
    columns = (column,) if column else COLUMNS
    notices: list[str] = []
    if suffix in _READERS:
        read = _READERS[suffix](_decode(lines, notices), columns)
    else:
        read = _read_whole(lines, name, columns, notices)
    return GivenSentences(name[:LONGEST_NAME], _checked(read), notices)


def listed_sentences(sentences: Iterable[str], *, name: str) -> GivenSentences:
    """Return sentences that were given one by one; errors are those of :func:`open_sentences`."""
    return GivenSentences(name, _checked(enumerate(sentences, start=1)))


def _error(message: str) -> RunError:
    return RunError.at("sentences", message)


Numbered = Iterator[tuple[int, str]]


def _decode(lines: Iterable[bytes], notices: list[str]) -> Numbered:
    """Yield lines of text: UTF-8, UTF-16 with its mark, or Windows-1252 if none is UTF-8."""
    rest = iter(lines)
    first = next(rest, b"")
    if first.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            text = decode(b"".join(chain([first], rest)))
        except TableFileError as error:
            raise _error(str(error)) from error
        yield from enumerate(text.splitlines(keepends=True), start=1)
        return
    encoding, wide = "utf-8", False
    for number, line in enumerate(chain([first.removeprefix(b"\xef\xbb\xbf")], rest), start=1):
        if line.isascii():
            yield number, line.decode()
            continue
        try:
            text = line.decode("utf-8")
            mixed, wide = encoding == WESTERN, True
        except UnicodeDecodeError:
            mixed = wide
            text = line.decode(WESTERN, errors="replace")
            if encoding != WESTERN:
                encoding = WESTERN
                notices.append(
                    "The file is not UTF-8 and was read as Windows-1252, as Excel saves CSV. If "
                    "letters look wrong, save it as UTF-8."
                )
        if mixed or "\N{REPLACEMENT CHARACTER}" in text:
            raise _error(
                f"Line {number} is in another encoding than the lines before it, or damaged. Save "
                "the file as UTF-8."
            )
        yield number, text


def _read_whole(
    lines: Iterable[bytes], name: str, columns: tuple[str, ...], notices: list[str]
) -> Numbered:
    try:
        table = read_table(b"".join(lines), name, or_json=True)
    except TableFileError as error:
        raise _error(str(error)) from error
    notices += table.notices
    given = list(dict.fromkeys(key for record in table.records for key in record.values))
    held = _find_column(given, columns)
    for record in table.records:
        if record.fault:
            raise _error(f"Line {record.line} {record.fault}")
        yield record.line, str(record.values.get(held) or "")


def _find_column(given: list[str], columns: tuple[str, ...]) -> str:
    """Return the column of sentences, named in any case. Raises :class:`RunError`."""
    plain = [name.strip().casefold() for name in given]
    for name in columns:
        if name.strip().casefold() in plain:
            return given[plain.index(name.strip().casefold())]
    expected = " or ".join(f"“{name}”" for name in columns)
    raise _error(
        f"The heading is “{shorten(', '.join(given))}”, expected a column {expected}. Rename the "
        "column, or name it with --map sentence=COLUMN on the command line. A file without a "
        "heading is a .txt file."
    )


def _read_tsv(lines: Numbered, columns: tuple[str, ...]) -> Numbered:
    """TSV has no quoting: a quotation mark is a character like any other."""
    rows = ((number, line.rstrip("\r\n").split("\t")) for number, line in lines)
    return _read_table(rows, columns)


def _read_csv(lines: Numbered, columns: tuple[str, ...]) -> Numbered:
    first = next(lines, None)
    if first is None:
        return iter(())
    heading = first[1]
    delimiter = max(",;\t", key=heading.count)

    def texts() -> Iterator[str]:
        yield heading
        yield from (line for _, line in lines)

    reader = csv.reader(texts(), delimiter=delimiter, strict=True)

    def rows() -> Iterator[tuple[int, list[str]]]:
        try:
            for row in reader:
                yield reader.line_num, row
        except csv.Error as error:
            raise _error(
                f"The file breaks off at line {reader.line_num}: {error}. A quotation mark may be "
                "open."
            ) from error

    return _read_table(rows(), columns)


def _read_table(rows: Iterator[tuple[int, list[str]]], columns: tuple[str, ...]) -> Numbered:
    place, width = 0, 0
    for number, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if not width:
            place, width = cells.index(_find_column(cells, columns)), len(cells)
        elif len(cells) != width:
            raise _error(f"Line {number} has {len(cells)} cells, expected {width} as the heading.")
        else:
            yield number, cells[place]


def _read_json_lines(lines: Numbered, columns: tuple[str, ...]) -> Numbered:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            entry: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _error(f"Line {number} is not JSON.") from error
        if isinstance(entry, dict):
            entry = next((entry[name] for name in columns if name in entry), None)
        if not isinstance(entry, str):
            raise _error(
                f"Line {number} is “{shorten(line.strip())}”, expected a text, or an object with "
                f"a text as {' or '.join(f'“{name}”' for name in columns)}."
            )
        yield number, entry


_READERS: dict[str, Callable[[Numbered, tuple[str, ...]], Numbered]] = {
    ".txt": lambda lines, columns: lines,
    ".tsv": _read_tsv,
    ".tab": _read_tsv,
    ".csv": _read_csv,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
}
#: Endings of the names of files that can be read.
SUFFIXES = (*_READERS, ".xlsx", ".json", ".parquet")


def _checked(numbered: Iterable[tuple[int, str]]) -> Iterator[str]:
    for number, text in numbered:
        sentence = _LINE_ENDS.sub(" ", text).strip()
        if not sentence:
            continue
        if _CONTROL.search(sentence):
            raise _error(f"Line {number} holds a control character, expected plain text.")
        if len(sentence) > LONGEST_SENTENCE:
            raise _error(
                f"Line {number} has {len(sentence):,} characters, expected one sentence of "
                f"{LONGEST_SENTENCE:,} at most."
            )
        yield sentence
