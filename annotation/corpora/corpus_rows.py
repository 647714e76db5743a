"""What a file of a corpus says, as plain values: rows, and every place where it is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from annotation.common.table_file import Problem

COMMON_COLUMNS = ("id", "source", "context", "split", "spans")
PAIR_COLUMNS = ("source_text", "target_text")
TEXT_COLUMNS = ("text", "variety")


class Layout(StrEnum):
    """A file holds either pairs, two texts a row, or texts, one a row."""

    PAIRS = "pairs"
    TEXTS = "texts"


@dataclass(frozen=True)
class Varieties:
    """The varieties of a corpus, as its file may name them; pairs are of the first two."""

    source: str
    target: str
    others: tuple[str, ...] = ()

    def find(self, name: str) -> str | None:
        """Return the variety that is called so, in any case."""
        known = {one.casefold(): one for one in (*self.others, self.target, self.source)}
        return known.get(name.strip().casefold())

    def find_column(self, name: str) -> str | None:
        """Return what a column of this name holds, ``source_text`` for the source variety's name.

        The names of columns come before those of varieties: a variety called “text” needs
        ``source_text``.
        """
        plain = name.strip().casefold()
        if plain in (*COMMON_COLUMNS, *PAIR_COLUMNS, *TEXT_COLUMNS):
            return plain
        variety = self.find(name)
        if variety not in (self.source, self.target):
            return None
        return "source_text" if variety == self.source else "target_text"


@dataclass(frozen=True)
class Side:
    """A text with its marked spans: dictionaries of start, end (characters) and kind."""

    body: str
    spans: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True)
class Row:
    """One text, or one pair where ``target`` is there too. ``variety`` is that of ``text``.

    name : from the file's column id; empty where the platform gives one
    """

    line: int
    name: str
    variety: str
    text: Side
    target: Side | None
    source: str
    context: str
    split: str


@dataclass(frozen=True)
class ParsedCorpus:
    """Good rows in the file's order; a row with a problem is not among them."""

    layout: Layout
    rows: tuple[Row, ...]
    problems: tuple[Problem, ...]
    #: What was assumed of the file, and what of it is not read; stops nothing.
    notices: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """Rows of the file, good and bad."""
        return len(self.rows) + len({problem.line for problem in self.problems})
