"""What a file of a corpus says, as plain values: rows, and every place where it is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from annotation.common.table_file import Problem, plain_heading

COMMON_COLUMNS = ("id", "source", "context", "split", "spans")
PAIR_COLUMNS = ("source_text", "target_text")
TEXT_COLUMNS = ("text", "variety")
#: What else columns call a variety, by what it is called here.
OTHER_NAMES = {
    "aal": ("aave", "aae", "african_american_english", "african_american_language", "ebonics"),
    "wme": ("sae", "mae", "standard_american_english", "white_mainstream_english", "en_us"),
}
#: What a column's name says beside the variety: “AAL text”, “sentence_wme”, “en-AAL”.
ASIDE = {"text", "texts", "sentence", "sentences", "utterance", "version", "body", "en", ""}
ASIDE |= {"pair", "pairs", "row", "data", "doc", "item"}
WORD_END = re.compile(r"[\W_]+|(?<=[a-z])(?=[A-Z])")


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

    def find_column(self, name: str, *, is_exact: bool = False) -> str | None:
        """Return what a column of this name holds, ``source_text`` for the source variety's name.

        The names of columns come before those of varieties: a variety called “text” needs
        ``source_text``.

        is_exact : takes no other name of a variety (AAVE), nor words beside it (AAL text)
        """
        plain = plain_heading(name)
        if plain in (*COMMON_COLUMNS, *PAIR_COLUMNS, *TEXT_COLUMNS):
            return plain
        called = {plain} if is_exact else {plain, bare_heading(name)}
        for column, variety in zip(PAIR_COLUMNS, (self.source, self.target), strict=True):
            known = plain_heading(variety)
            if known in called or (not is_exact and called & set(OTHER_NAMES.get(known, ()))):
                return column
        return None


def bare_heading(name: str) -> str:
    """Return a column's name without what it says beside the variety or the side of a pair."""
    words = (word.casefold() for word in WORD_END.split(name))
    return "_".join(word for word in words if word not in ASIDE)


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
