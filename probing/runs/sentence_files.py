"""Reads sentences from a file as a stream: lines of text, a table's column, or JSON lines.

A file is read once and never kept: a run keeps the sentences that were drawn, and the SHA-256 of
all of them. White space at both ends of a sentence goes; blank lines are left out.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from probing.runs.errors import RunError

#: Names of the column, or of the JSON object's entry, that holds the sentence.
COLUMNS = ("sentence", "text")
LONGEST_SENTENCE = 10_000
LONGEST_NAME = 160
KINDS = ".txt (one sentence a line), .tsv or .csv (with a column “sentence” or “text”) or .jsonl"
_SHOWN = 60
_LINE_ENDS = re.compile(r"[\r\n]+")
# PostgreSQL stores no null character; the others stand for damage or for another encoding.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


@dataclass(frozen=True)
class GivenSentences:
    """Sentences that come with a request: read once, from beginning to end.

    name : as the run and its reports print it, such as the file's
    """

    name: str
    sentences: Iterable[str]


def open_sentences(lines: Iterable[bytes], *, file_name: str) -> GivenSentences:
    """Return the sentences of a file; ``lines`` are its lines with their ends, in UTF-8.

    Raises :class:`RunError` for a kind of file that is not known, and while it is read where a line
    is no sentence: then nothing of it is used.
    """
    name = PurePath(file_name).name
    suffix = PurePath(file_name).suffix.lower()
    if suffix not in _READERS:
        raise _error(f"“{_shorten(name)}” cannot be read. Give a file of the kind {KINDS}.")
    return GivenSentences(name[:LONGEST_NAME], _checked(_READERS[suffix](_decode(lines))))


def listed_sentences(sentences: Iterable[str], *, name: str) -> GivenSentences:
    """Return sentences that were given one by one; errors are those of :func:`open_sentences`."""
    return GivenSentences(name, _checked(enumerate(sentences, start=1)))


def _error(message: str) -> RunError:
    return RunError.at("sentences", message)


Numbered = Iterator[tuple[int, str]]


def _decode(lines: Iterable[bytes]) -> Numbered:
    for number, line in enumerate(lines, start=1):
        if number == 1 and line.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise _error("The file is UTF-16 text, expected UTF-8.")
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise _error(f"Line {number} is not UTF-8 text ({error.reason}).") from error
        yield number, text


def _read_tsv(lines: Numbered) -> Numbered:
    """TSV has no quoting: a quotation mark is a character like any other."""
    rows = ((number, line.rstrip("\r\n").split("\t")) for number, line in lines)
    return _read_table(rows)


def _read_csv(lines: Numbered) -> Numbered:
    first = next(lines, None)
    if first is None:
        return iter(())
    heading = first[1]
    delimiter = ";" if heading.count(";") > heading.count(",") else ","

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

    return _read_table(rows())


def _read_table(rows: Iterator[tuple[int, list[str]]]) -> Numbered:
    place, width = 0, 0
    for number, cells in rows:
        if not any(cell.strip() for cell in cells):
            continue
        if not width:
            names = [cell.strip().casefold() for cell in cells]
            held = [name for name in COLUMNS if name in names]
            if not held:
                raise _error(
                    f"The heading is “{_shorten(', '.join(cells))}”, expected a column “sentence” "
                    "or “text”. A file without a heading is a .txt file."
                )
            place, width = names.index(held[0]), len(names)
        elif len(cells) != width:
            raise _error(f"Line {number} has {len(cells)} cells, expected {width} as the heading.")
        else:
            yield number, cells[place]


def _read_json_lines(lines: Numbered) -> Numbered:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            entry: Any = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _error(f"Line {number} is not JSON.") from error
        if isinstance(entry, dict):
            entry = next((entry[name] for name in COLUMNS if name in entry), None)
        if not isinstance(entry, str):
            raise _error(
                f"Line {number} is “{_shorten(line.strip())}”, expected a text, or an object with "
                "a text as “sentence” or “text”."
            )
        yield number, entry


_READERS: dict[str, Callable[[Numbered], Numbered]] = {
    ".txt": lambda lines: lines,
    ".tsv": _read_tsv,
    ".tab": _read_tsv,
    ".csv": _read_csv,
    ".jsonl": _read_json_lines,
    ".ndjson": _read_json_lines,
}
#: Endings of the names of files that can be read.
SUFFIXES = tuple(_READERS)


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


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
