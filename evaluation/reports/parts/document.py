"""A report as a document: declared by its kind, shown by one template, rendered to every format.

A kind says what stands in it; numbering, layout, downloads and formats follow. Texts are plain and
escaped where they are shown.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol

from django.utils.safestring import SafeString, mark_safe

from annotation.common.lazy import pd
from evaluation.charts import render_svg, themeable

# Rows of a table that paper keeps together.
SHORT_TABLE = 16


@dataclass(frozen=True)
class KeyNumber:
    """One number of the report's head: what it is, its value, and the lines that qualify it.

    ``meaning`` explains it to a newcomer; its kind adds it (`ReportKind.meanings`).
    """

    label: str
    value: str
    small: str = ""
    lines: tuple[str, ...] = ()
    meaning: str = ""


@dataclass(frozen=True)
class Figure:
    """One chart with its caption; drawn when it is asked for.

    ``data`` names the table with the same numbers; ``query`` is what its address needs besides.
    """

    template: ClassVar[str] = "evaluation/blocks/figure.html"
    counted: ClassVar[str] = "figure"

    name: str
    caption: str
    spec: dict[str, Any]
    narrow_spec: dict[str, Any] | None = None
    data: str = ""
    query: str = ""

    @cached_property
    def svg_file(self) -> str:
        """The drawing as a file: always light."""
        return render_svg(self.spec)

    @cached_property
    def svg(self) -> SafeString:
        """The drawing inside a page, in the page's own colors. The renderer escapes all texts."""
        return mark_safe(themeable(self.svg_file))  # noqa: S308

    @cached_property
    def narrow_svg_file(self) -> str:
        """The drawing for narrow pages as a file, empty where there is none of its own."""
        return render_svg(self.narrow_spec) if self.narrow_spec else ""

    @cached_property
    def narrow_svg(self) -> SafeString | None:
        """The drawing for narrow pages, where there is one of its own."""
        file = self.narrow_svg_file
        return mark_safe(themeable(file)) if file else None  # noqa: S308

    @cached_property
    def data_uri(self) -> str:
        """The drawing as an image that stands in the document itself, for paper."""
        encoded = base64.b64encode(self.svg_file.encode()).decode()
        return f"data:image/svg+xml;base64,{encoded}"


@dataclass(frozen=True)
class PrintedColumn:
    """``style`` is empty, “strong” or “quiet”; ``wide`` columns hold running text."""

    head: str
    number: bool = False
    style: str = ""
    wide: bool = False

    @property
    def css(self) -> str:
        return " ".join(
            part
            for part in ("number" if self.number else "", "wide" if self.wide else "", self.style)
            if part
        )


@dataclass(frozen=True)
class HeadGroup:
    """A head over several columns; ``source`` is “people” or “model”, or empty."""

    text: str
    span: int
    source: str = ""


@dataclass(frozen=True)
class Row:
    """The cells of one line as they are printed; a note stands under it."""

    cells: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A table as it is read; ``data`` names the table with all its numbers as computed."""

    template: ClassVar[str] = "evaluation/blocks/table.html"
    counted: ClassVar[str] = "table"

    caption: str
    columns: tuple[PrintedColumn, ...]
    rows: tuple[Row, ...]
    data: str
    heads: tuple[HeadGroup, ...] = ()

    @property
    def is_short(self) -> bool:
        """Whether it fits on a page of paper, so that it need not be cut."""
        return len(self.rows) <= SHORT_TABLE

    @property
    def lines(self) -> Iterator[tuple[Row, str, list[tuple[PrintedColumn, str]]]]:
        """Yield (row, its first cell, its other cells with their columns)."""
        for row in self.rows:
            rest = list(zip(self.columns[1:], row.cells[1:], strict=True))
            yield row, row.cells[0], rest


@dataclass(frozen=True)
class Prose:
    """Paragraphs between figures and tables."""

    template: ClassVar[str] = "evaluation/blocks/prose.html"
    counted: ClassVar[str] = ""

    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Choice:
    label: str
    query: str
    current: bool


@dataclass(frozen=True)
class Choices:
    """Links to other views of a page; files show their ``figures`` folded up instead.

    multiples : the same in small, row by row, for paper; ``caption`` says what they show
    """

    template: ClassVar[str] = "evaluation/blocks/choices.html"
    counted: ClassVar[str] = ""

    label: str
    anchor: str
    options: tuple[Choice, ...]
    figures: tuple[tuple[str, Figure], ...] = ()
    multiples: tuple[Figure, ...] = ()
    caption: str = ""


Block = Figure | Table | Prose | Choices


@dataclass(frozen=True)
class Section:
    """``why`` says why one would look at it, in one or two sentences."""

    heading: str
    blocks: tuple[Block, ...]
    why: str = ""
    anchor: str = ""


@dataclass(frozen=True)
class Numbered:
    """A block with its number among those of its sort, 0 where that sort is not counted."""

    block: Block
    number: int

    @property
    def template(self) -> str:
        return self.block.template


class Download(Protocol):
    """A table as a download: tidy, numbers as they were computed, stable names of columns.

    ``name`` is that of its file and sheet and never changes once reports with it exist.
    """

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def frame(self) -> pd.DataFrame: ...


@dataclass(frozen=True)
class Statement:
    """One section of a data statement (Bender and Friedman 2018)."""

    heading: str
    paragraphs: tuple[str, ...]


Provenance = tuple[str, str, str]


@dataclass(frozen=True)
class Document:
    """Everything that a reader of a report sees, whatever the format.

    left_out : what did not enter, and why
    title, facts, banners, statement, provenance : what a kind leaves empty is taken from the
        report's record (`ReportKind.complete`)
    provenance : columns of (name, text, code)
    """

    question: str
    keys: tuple[KeyNumber, ...]
    sections: tuple[Section, ...]
    tables: tuple[Download, ...]
    method: tuple[str, ...]
    caveats: tuple[str, ...]
    title: str = ""
    provenance: tuple[tuple[Provenance, ...], ...] = ()
    facts: tuple[str, ...] = ()
    banners: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    statement: tuple[Statement, ...] = ()

    def __post_init__(self) -> None:
        names = [table.name for table in self.tables]
        unknown = {
            block.data
            for section in self.sections
            for block in section.blocks
            if isinstance(block, Figure | Table) and block.data
        } - set(names)
        if len(names) != len(set(names)) or unknown:
            raise ValueError(f"tables {names}; shown but not among them: {sorted(unknown)}")

    @cached_property
    def parts(self) -> list[tuple[Section, list[Numbered]]]:
        """Return the sections with figures and tables numbered through."""
        counts: dict[str, int] = {}
        parts = []
        for section in self.sections:
            blocks = []
            for block in section.blocks:
                if block.counted:
                    counts[block.counted] = counts.get(block.counted, 0) + 1
                blocks.append(Numbered(block, counts.get(block.counted, 0)))
            parts.append((section, blocks))
        return parts

    @cached_property
    def frames(self) -> Mapping[str, pd.DataFrame]:
        return {table.name: table.frame for table in self.tables}

    @property
    def blocks(self) -> Iterator[Block]:
        for section in self.sections:
            yield from section.blocks

    def find_figure(self, name: str) -> Figure | None:
        """Return the figure of that name, or None."""
        return next((b for b in self.blocks if isinstance(b, Figure) and b.name == name), None)
