"""What of a report must not move, read off today's objects and compared with the stored files.

The only module of these tests that knows the product's reports: whoever renames or moves a module
or a field there changes it here, and nothing under `stored/`.

Of each case there are three files. `NAME.json` is the report as it was stored.
`NAME.expected.json` has its downloads, exactly, and its printed numbers: every cell, each note's
place, figures and links. `NAME.words.json` has the words around them, which an editorial pass may
change.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import parse_qsl

import pandas as pd
from django.utils.html import strip_tags

from evaluation.models import Report, ReportStatus
from evaluation.reports import building, rendering
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.parts.document import Choices, Document, Figure, Prose, Table
from evaluation.reports.registry import KINDS, get_kind
from evaluation.reports.rendering import PdfUnavailableError, RenderedFile, to_csv
from evaluation.reports.requesting import request_report
from tests.evaluation.reports.stored_cases import Case, Inputs, stopped_clock

__all__ = [
    "KINDS",
    "Report",
    "build",
    "comparable",
    "find_differences",
    "lay_out",
    "other_views",
    "read_downloads",
    "read_printed",
    "read_words",
    "render_without_pdf",
]

STORED = Path(__file__).parent / "stored"
REPORT_ID = "report000001"
FIELDS = (
    "public_id",
    "kind",
    "title",
    "parameters",
    "status",
    "inputs",
    "result",
    "code_version",
    "library_versions",
    "started_at",
    "built_at",
    "seconds",
    "error",
)
TIMES = ("started_at", "built_at")
# What depends on the machine and the day, of a report that is built again.
OF_THE_DAY = ("code_version", "library_versions", "seconds")
NUMBER = re.compile(r"[−+-]?\d+(?:[.,]\d+)*")
ONE_LINE = 96
BOUNDS = ("low", "high")

Pinned = str | list[str]


# --- Reports ------------------------------------------------------------------------------------


def build(case: Case, inputs: Inputs, *, with_files: bool = True) -> Report:
    """Return a report of that case, asked for and built as ever; files take most of the time."""
    render = building.render_files if with_files else lambda *_: []
    drawn = mock.patch.object(building, "render_files", render)
    with stopped_clock(), drawn:
        asked = request_report(
            kind=case.kind,
            study=inputs.study,
            second_study=inputs.second_study,
            corpus=inputs.corpus,
            runs=inputs.runs,
            parameters=case.parameters,
        )
        asked.public_id = REPORT_ID
        asked.save()
        built = build_report(report_id=asked.pk)
    assert built is not None
    assert built.status == ReportStatus.FINAL, built.error
    return built


def to_stored(report: Report) -> dict[str, Any]:
    """Return every column that a report is rendered from, and those that tell how it came about."""
    row = {name: getattr(report, name) for name in FIELDS}
    return row | {name: row[name].isoformat() for name in TIMES}


def from_stored(row: Mapping[str, Any], inputs: Inputs | None = None) -> Report:
    """Save a stored report again, on its inputs where they are given."""
    found = Report(**{**row, **{name: datetime.fromisoformat(row[name]) for name in TIMES}})
    if inputs is not None:
        found.study, found.corpus = inputs.study, inputs.corpus
        found.second_study = inputs.second_study
    found.save()
    if inputs is not None:
        found.runs.set(inputs.runs)
    found.refresh_from_db()
    return found


def lay_out(report: Report, query: str = "") -> Document:
    """Return the document in the view of an address's query."""
    return get_kind(report.kind).document(report, dict(parse_qsl(query.removeprefix("?"))))


def render_without_pdf(report: Report, document: Document) -> list[RenderedFile]:
    """Return the files of a report, as on a machine that can make no PDF."""
    make = mock.Mock(side_effect=PdfUnavailableError)
    with mock.patch.object(rendering, "render_pdf", make):
        return rendering.render_files(report, document)


def other_views(document: Document) -> list[str]:
    """Return the query of one other view for each choice that the page offers."""
    found = []
    for block in document.blocks:
        if isinstance(block, Choices):
            found += [option.query for option in block.options if not option.current][:1]
    return found


# --- Arithmetic -----------------------------------------------------------------------------------


def split_bounds(value: Any) -> tuple[Any, list[Any]]:
    """Return a result without the bounds of its intervals, and these in order."""
    bounds: list[Any] = []

    def without_bounds(part: Any) -> Any:
        if isinstance(part, dict):
            bounds.extend(part[name] for name in BOUNDS if name in part)
            return {key: without_bounds(part[key]) for key in sorted(part.keys() - {*BOUNDS})}
        return [without_bounds(one) for one in part] if isinstance(part, list) else part

    return without_bounds(value), bounds


# --- Downloads, which never move ----------------------------------------------------------------


def read_downloads(document: Document) -> dict[str, Any]:
    """Return every table as downloads have it: columns, sorts of values, the lines of the CSV."""
    return {
        table.name: {
            "columns": [str(name) for name in table.frame.columns],
            "sorts": [_sort(table.frame[name]) for name in table.frame.columns],
            "csv": to_csv(table.frame).decode().split("\n"),
        }
        for table in document.tables
    }


def comparable(downloads: Mapping[str, Any]) -> dict[str, Any]:
    """Return downloads without the sorts of columns that have no row: neither numbers nor texts."""
    return {
        name: {part: table[part] for part in table if part != "sorts" or any(table["csv"][1:])}
        for name, table in downloads.items()
    }


def _sort(column: pd.Series) -> str:
    """Return whether a column holds numbers or texts; libraries differ in how they hold texts."""
    for name, holds in (
        ("boolean", pd.api.types.is_bool_dtype),
        ("integer", pd.api.types.is_integer_dtype),
        ("decimal", pd.api.types.is_float_dtype),
    ):
        if holds(column.dtype):
            return name
    return "text"


# --- Printed numbers ----------------------------------------------------------------------------


def read_printed(document: Document) -> dict[str, Any]:
    """Return all that is printed, without its words."""
    return {
        "keys": [
            {"value": pin(key.value), "small": pin(key.small), "lines": list(map(pin, key.lines))}
            for key in document.keys
        ],
        "sections": [
            [_printed(block) for block in section.blocks if not isinstance(block, Prose)]
            for section in document.sections
        ],
    }


def _printed(block: Any) -> dict[str, Any]:
    if isinstance(block, Table):
        return {
            "table": block.data,
            "columns": len(block.columns),
            "heads": [[head.span, head.source] for head in block.heads],
            "rows": [[pin(cell) for cell in row.cells] for row in block.rows],
            "notes": [place for place, row in enumerate(block.rows) if row.note],
        }
    if isinstance(block, Figure):
        return {"figure": block.name, "data": block.data, "query": block.query}
    assert isinstance(block, Choices), block
    return {
        "choices": [[option.query, option.current] for option in block.options],
        "figures": len(block.figures),
    }


def pin(text: str) -> Pinned:
    """Return a text that has no word as it is, otherwise the numbers among its words."""
    return NUMBER.findall(text) if has_words(text) else text


def has_words(text: str) -> bool:
    return any(letter.isalpha() for letter in text)


# --- Words, which an editorial pass may change --------------------------------------------------


def read_words(document: Document) -> dict[str, Any]:
    """Return every text of a document; of cells those that hold a word, None for the others."""
    return {
        "title": document.title,
        "question": document.question,
        "facts": list(document.facts),
        "banners": list(document.banners),
        "keys": [
            {"label": key.label, "value": key.value, "small": key.small, "lines": list(key.lines)}
            for key in document.keys
        ],
        "sections": [
            {
                "heading": section.heading,
                "why": section.why,
                "anchor": section.anchor,
                "blocks": [_worded(block) for block in section.blocks],
            }
            for section in document.sections
        ],
        "downloads": {table.name: table.title for table in document.tables},
        "method": list(document.method),
        "caveats": list(document.caveats),
        "left_out": list(document.left_out),
        "statement": [[part.heading, *part.paragraphs] for part in document.statement],
        "provenance": [[list(line) for line in column] for column in document.provenance],
    }


def _worded(block: Any) -> dict[str, Any]:
    if isinstance(block, Table):
        return {
            "table": block.caption,
            "heads": [head.text for head in block.heads],
            "columns": [column.head for column in block.columns],
            "rows": [
                [cell if has_words(cell) else None for cell in row.cells] for row in block.rows
            ],
            "notes": [row.note for row in block.rows if row.note],
        }
    if isinstance(block, Figure):
        usermeta = block.spec.get("usermeta", {})
        return {
            "figure": block.caption,
            "title": usermeta.get("title", ""),
            "description": block.spec.get("description", ""),
        }
    if isinstance(block, Prose):
        return {"prose": list(block.paragraphs)}
    return {
        "choices": block.label,
        "options": [option.label for option in block.options],
        "figures": [name for name, _figure in block.figures],
    }


# --- All of it, as it is stored -----------------------------------------------------------------


def read_expected(report: Report, files: Iterable[RenderedFile]) -> dict[str, Any]:
    """Return what `NAME.expected.json` holds of a report."""
    document = lay_out(report)
    return {
        "files": read_files(files),
        "downloads": read_downloads(document),
        "printed": read_printed(document),
        "views": {
            query: changes(read_printed(document), read_printed(lay_out(report, query)))
            for query in other_views(document)
        },
    }


def read_all_words(report: Report) -> dict[str, Any]:
    """Return what `NAME.words.json` holds of a report."""
    document = lay_out(report)
    whole = read_words(document)
    return whole | {
        "views": {
            query: changes(whole, read_words(lay_out(report, query)))
            for query in other_views(document)
        }
    }


def read_files(files: Iterable[RenderedFile]) -> list[list[str]]:
    """Return names and media types; the PDF comes last where the machine can make one."""
    return [[file.name, file.media_type] for file in files]


def changes(before: Any, after: Any) -> Any:
    """Return what of ``after`` is not as ``before``: parts of mappings and places of lists."""
    if isinstance(before, dict) and isinstance(after, dict):
        pairs: Iterable[tuple[str, Any, Any]] = (
            (key, before.get(key), after.get(key)) for key in before | after
        )
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        if not any(isinstance(part, dict | list) for part in (*before, *after)):
            return after
        pairs = (
            (str(place), old, new)
            for place, (old, new) in enumerate(zip(before, after, strict=True))
        )
    else:
        return after
    return {key: changes(old, new) for key, old, new in pairs if old != new}


def read_json(name: str) -> Any:
    return json.loads((STORED / name).read_text())


def write_json(name: str, content: Any, *, deepest: int = 99) -> None:
    (STORED / name).write_text(f"{dump(content, deepest)}\n")


def dump(value: Any, deepest: int, depth: int = 0) -> str:
    """Return JSON whose short parts stand in one line each, and those that lie too deep."""
    whole = json.dumps(value, ensure_ascii=False, allow_nan=False)
    short = depth + len(whole) <= ONE_LINE or depth == deepest
    if short or not isinstance(value, dict | list) or not value:
        return whole
    blank = " " * (depth + 1)
    if isinstance(value, dict):
        parts = [
            f"{blank}{json.dumps(key, ensure_ascii=False)}: {dump(part, deepest, depth + 1)}"
            for key, part in value.items()
        ]
        return "{\n" + ",\n".join(parts) + f"\n{blank[1:]}}}"
    return (
        "[\n"
        + ",\n".join(blank + dump(part, deepest, depth + 1) for part in value)
        + f"\n{blank[1:]}]"
    )


# --- Pages --------------------------------------------------------------------------------------


class PageTables(HTMLParser):
    """Collects the tables of a page: caption, then row by row the texts of all cells."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.captions: list[str] = []
        self.tables: list[list[list[str]]] = []
        self._text: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"th", "td", "caption"}:
            self._text = []

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag in {"th", "td", "caption"} and self._text is not None:
            text = squeeze("".join(self._text))
            if tag == "caption":
                self.captions.append(text)
            else:
                self.tables[-1][-1].append(text)
            self._text = None


def check_page(html: str, document: Document) -> None:
    """Assert that a page shows every table, note, key number and figure of the document."""
    page = PageTables()
    page.feed(html)
    tables = [block for block in document.blocks if isinstance(block, Table)]
    assert len(page.tables) == len(tables)
    for table, caption, found in zip(tables, page.captions, page.tables, strict=True):
        assert squeeze(table.caption) in caption
        for wanted, row in zip(_lines(table), found, strict=True):
            assert [text.casefold() for text in row] == [text.casefold() for text in wanted]
    text = squeeze(strip_tags(html))
    for key in document.keys:
        assert squeeze(key.value) in text.replace("&lt;", "<").replace("&amp;", "&"), key
    assert html.count("<figure") == sum(isinstance(block, Figure) for block in document.blocks)


def _lines(table: Table) -> Iterator[Sequence[str]]:
    if table.heads:
        yield [squeeze(head.text) for head in table.heads]
    yield [squeeze(column.head) for column in table.columns]
    for row in table.rows:
        yield [squeeze(cell) for cell in row.cells]
        if row.note:
            yield ["", squeeze(f"{row.note}.")]


def squeeze(text: str) -> str:
    return " ".join(text.split())
