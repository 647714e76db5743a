"""Reads files of texts and pairs, in whichever kind `annotation.common.table_file` reads.

Two layouts. *Pairs* have a column for each variety, named by it (AAL, WME) or ``source_text`` and
``target_text``; *texts* have ``text`` and may have ``variety``. Both may have ``id``, ``source``,
``context`` and ``split``. JSON and Parquet may also carry ``spans``: a list of objects with start,
end and kind for texts; for pairs an object with such a list under each variety's name. Offsets
count characters (Unicode code points) of the text. Other columns are named and not read; oTree's
wide rows become one for each round. Bodies lose white space at both ends and keep it inside.

Nothing here touches the database: a file becomes rows and problems, and a caller decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

from annotation.common.table_file import (
    Heading,
    Problem,
    Record,
    TableFileError,
    list_columns,
    number_columns,
    plain_heading,
    read_table,
)
from annotation.common.text_shortening import shorten
from annotation.corpora.corpus_rows import (
    COMMON_COLUMNS,
    PAIR_COLUMNS,
    TEXT_COLUMNS,
    Layout,
    ParsedCorpus,
    Varieties,
    bare_heading,
)
from annotation.corpora.row_reader import RowReader

COLUMNS = (*COMMON_COLUMNS, *PAIR_COLUMNS, *TEXT_COLUMNS)
#: What tools call the two sides of a pair, where no column is called as expected; the first that
#: is there counts. Words that say nothing beside a side (text, sentence) are left out of names.
TARGET_NAMES = (
    *("rewrite", "rewriting", "counterpart", "paraphrase", "translation", "target", "tgt"),
    *("standard", "output", "completion", "rewritten"),
)
SOURCE_NAMES = ("original", "sentence", "text", "src", "dialect", "input", "prompt")
OTREE = re.compile(r"(?:(\w+\.\d+)\.)?player\.(\w+)")
SHORTEST_SENTENCE = 3
#: Beside two sentences, a cell that is the name of no column: a row’s number, or nothing.
NUMBERED = re.compile(r"\w{0,3}[-_.]?\d+|")
ALIKE = 0.85


class HeadingError(TableFileError):
    """The columns are not known by their names; the one who brings the file can name them."""


def parse_corpus_file(
    content: bytes, file_name: str, varieties: Varieties, heading: Heading | None = None
) -> ParsedCorpus:
    """Return every good row and every problem of a file.

    heading : None finds the columns by their names, and takes two sentences as a row of pairs

    Raises `TableFileError` where the file as a whole cannot be read. Rows are checked one by one
    here; what several rows have to do with one another is `annotation.corpora.row_checks`.
    """
    heading = heading or Heading()
    notices: list[str] = []

    def name_columns(cells: list[str]) -> Sequence[str] | None:
        if not heading.is_there:
            return number_columns(cells)
        sentences = [len(cell.split()) >= SHORTEST_SENTENCE for cell in cells]
        rest = [cell for cell, is_one in zip(cells, sentences, strict=True) if not is_one]
        if sum(sentences) != 2 or not all(map(NUMBERED.fullmatch, rest)):
            return None
        if any(map(varieties.find_column, cells)):
            return None
        notices.append(
            "The first line was read as a pair, since it holds two sentences and no names: "
            f"{varieties.source} first, {varieties.target} second."
        )
        sides = iter(PAIR_COLUMNS)
        numbers = number_columns(cells)
        return [
            next(sides) if is_one else number
            for number, is_one in zip(numbers, sentences, strict=True)
        ]

    table = read_table(content, file_name, or_json=True, name_columns=name_columns)
    records = _split_rounds(table.records, varieties)
    first = next((record for record in records if not record.fault), None)
    if first is None:
        raise TableFileError(f"No row can be read. Line {records[0].line} {records[0].fault}")
    given = dict(heading.columns)
    if not heading.is_there and not given and len(first.values) == 2:
        given = dict(zip(PAIR_COLUMNS, first.values, strict=True))
    names = _name_columns(first.values, varieties, given)
    if notice := _take_source(names, list(first.values)):
        notices.append(notice)
    layout = _find_layout(names, first.values, varieties)
    columns = list(dict.fromkeys(name for record in records for name in record.values))
    for column in columns:  # JSON names some in later rows alone
        name = None if column in first.values else varieties.find_column(column)
        if name and name not in given:
            names[column] = name
    if unread := [
        shorten(column) or "(without a name)" for column in columns if column not in names
    ]:
        notices.append(f"Nothing is read from: {', '.join(unread)}.")
    rows, problems = [], []
    for record in records:
        reader = RowReader(record, layout, varieties, names)
        row = reader.read()
        if row is not None:
            rows.append(row)
        problems += [Problem(record.line, fault) for fault in reader.faults]
    return ParsedCorpus(layout, tuple(rows), tuple(problems), (*table.notices, *notices))


def _split_rounds(records: list[Record], varieties: Varieties) -> list[Record]:
    """Return oTree's rows by round: its columns “app.1.player.field” as “field”.

    Rounds without a text are none of the task, or were not reached.
    """
    named = {column for record in records for column in record.values}
    fields = {column: match for column in named if (match := OTREE.fullmatch(column))}
    found: list[Record] = []
    for record in records if fields else ():
        rounds: dict[str, dict[str, Any]] = {}
        shared = {name: value for name, value in record.values.items() if name not in fields}
        for column, value in record.values.items():
            if match := fields.get(column):
                rounds.setdefault(match[1] or "", {})[match[2]] = value
        found += [
            Record(record.line, {**shared, **values})
            for values in rounds.values()
            if any(value for name, value in values.items() if varieties.find_column(name))
        ]
        if record.fault:
            found.append(record)
    return found or records


def _name_columns(
    columns: Iterable[str], varieties: Varieties, given: dict[str, str]
) -> dict[str, str]:
    """Return what each column holds that is read; `given` comes before the columns' own names."""
    columns = list(columns)
    for name, column in given.items():
        if name not in COLUMNS:
            raise TableFileError(f"“{shorten(name)}” is not known, expected {', '.join(COLUMNS)}.")
        if column not in columns:
            raise TableFileError(f"There is no column “{shorten(column)}”. {list_columns(columns)}")
    names = {column: name for name, column in given.items()}
    for is_exact in (True, False):  # “AAL” comes before “AAL text”
        taken = set(given if is_exact else names.values())
        for column in columns:
            found = varieties.find_column(column, is_exact=is_exact)
            if found and found not in taken and column not in names:
                names[column] = found
    source, target = _find_side(columns, SOURCE_NAMES), _find_side(columns, TARGET_NAMES)
    if (
        target
        and "target_text" not in names.values()
        and (source or "source_text" in names.values())
    ):
        names[target] = "target_text"
    if source and "target_text" in names.values() and "source_text" not in names.values():
        names[source] = "source_text"
    return names


def _find_side(columns: Sequence[str], names: Sequence[str]) -> str:
    """Return the column that is called by the first of the names that is there, empty if none."""
    by_name = {bare_heading(column) or plain_heading(column): column for column in columns}
    return next((by_name[name] for name in names if name in by_name), "")


def _take_source(names: dict[str, str], columns: Sequence[str]) -> str:
    """Take “source” beside one text alone for the other text, and return a notice of it.

    Beside two texts, or single ones, it says where they were drawn from.
    """
    source, target = _find_side(columns, ("source",)), _find_side(columns, TARGET_NAMES)
    if not (source and target) or set(names.values()) & {"source_text", "text"}:
        return ""
    names |= {source: "source_text", target: "target_text"}
    return f"“source” was read as the text, since only “{target}” is beside it."


def _find_layout(names: dict[str, str], columns: Iterable[str], varieties: Varieties) -> Layout:
    """Return the layout that a heading, or the names of the first JSON object, has."""
    expected = (
        f"expected “{varieties.source}” and “{varieties.target}” (or “source_text” and "
        "“target_text”) for pairs, or “text” and, where they differ, “variety” for single texts; "
        "beside them “id”, “source”, “context”, “split”, and in JSON “spans”"
    )
    for column in columns:
        alike = get_close_matches(column.strip().casefold(), COLUMNS, 1, ALIKE)
        if alike and column not in names and alike[0] not in names.values():
            raise TableFileError(
                f"The column “{shorten(column)}” is not known, {expected}. If it is "
                f"“{alike[0]}”, rename it; otherwise leave it out."
            )
    held = list(names.values())
    if len(set(held)) < len(held):
        raise TableFileError(f"Two columns hold the same, {expected}.")
    if set(PAIR_COLUMNS) <= set(held) and not set(TEXT_COLUMNS) & set(held):
        return Layout.PAIRS
    if "text" in held and not set(PAIR_COLUMNS) & set(held):
        return Layout.TEXTS
    raise HeadingError(
        f"The columns fit neither pairs nor texts, {expected}. {list_columns(columns)} Say which "
        "column holds what, or that the file has no heading."
    )
