"""Reads files of texts and pairs: CSV, TSV and JSON lines, in UTF-8 with or without a mark.

Two layouts. *Pairs* have a column for each variety, named by it (AAL, WME) or ``source_text`` and
``target_text``; *texts* have ``text`` and may have ``variety``. Both may have ``id``, ``source``,
``context`` and ``split``. JSON lines may also carry ``spans``: a list of objects with start, end
and kind for texts; for pairs an object with such a list under each variety's name. Offsets count
characters (Unicode code points) of the text.

How tables are read, `annotation.common.table_file` says. Bodies lose white space at both ends and
keep it inside. Nothing here touches the database: a file becomes rows and problems, and a caller
decides.
"""

from __future__ import annotations

from collections.abc import Iterable

from annotation.common.table_file import Problem, TableFileError, read_table
from annotation.common.text_shortening import shorten
from annotation.corpora.corpus_rows import (
    PAIR_COLUMNS,
    TEXT_COLUMNS,
    Layout,
    ParsedCorpus,
    Varieties,
)
from annotation.corpora.row_reader import RowReader


def parse_corpus_file(content: bytes, file_name: str, varieties: Varieties) -> ParsedCorpus:
    """Return every good row and every problem of a file.

    Raises `TableFileError` where the file as a whole cannot be read. Rows are checked one by one
    here; what several rows have to do with one another is `annotation.corpora.row_checks`.
    """
    records = read_table(content, file_name, or_json_lines=True)
    first = next((record for record in records if not record.fault), None)
    if first is None:
        raise TableFileError(f"No row can be read. Line {records[0].line} {records[0].fault}")
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
            raise TableFileError(
                f"The column “{shorten(column)}” is not known, {expected}, and in JSON lines "
                "“spans”. Rename or leave out what the corpus does not keep."
            )
        held.append(found)
    if len(set(held)) < len(held):
        raise TableFileError(f"Two columns hold the same, {expected}.")
    if set(PAIR_COLUMNS) <= set(held) and not set(TEXT_COLUMNS) & set(held):
        return Layout.PAIRS
    if "text" in held and not set(PAIR_COLUMNS) & set(held):
        return Layout.TEXTS
    raise TableFileError(f"The columns fit neither pairs nor texts, {expected}.")
