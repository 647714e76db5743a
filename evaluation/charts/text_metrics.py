"""Labels of groups and scales, numbers as text, and how wide a text will be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.common.lazy import pd

MINUS = "−"
DASH = "–"

# Widths of Helvetica and its metric twins (Arial, Liberation Sans) in thousandths of the size;
# what is not listed counts as a digit or lower-case letter of usual width.
_WIDTHS = (
    ("ijl'|", 225),
    (" ftI.,:;!/[]()-", 300),
    ("r–", 400),
    ("cksvxyzJ", 505),
    ("FLTZ", 615),
    ("ABEKPSVXY&", 680),
    ("wCDHNRUGOQ", 745),
    ("mMW", 890),
)
_WIDTH_OF = {character: width for characters, width in _WIDTHS for character in characters}
_USUAL_WIDTH = 560


@dataclass(frozen=True)
class GroupLabel:
    """How a group is written in a chart; groups of one domain stand together."""

    slug: str
    text: str
    domain: str = ""


@dataclass(frozen=True)
class ScaleLabel:
    """How a scale is written: its poles and its dimension (token name and word)."""

    slug: str
    low: str
    high: str
    dimension: str = ""
    dimension_text: str = ""


def text_width(text: str, size: float) -> float:
    """Return about how many pixels a text takes at that size."""
    return sum(_WIDTH_OF.get(character, _USUAL_WIDTH) for character in text) * size / 1000


def widest(texts: Sequence[str], size: float) -> float:
    """Return the width of the widest text, 0 without any."""
    return max((text_width(text, size) for text in texts), default=0.0)


def format_number(value: float, decimals: int, *, signed: bool = False) -> str:
    """Return a number with a true minus sign; zero has no sign, NaN is a dash."""
    if math.isnan(value):
        return DASH
    rounded = round(value, decimals)
    text = f"{abs(rounded):.{decimals}f}"
    if rounded < 0:
        return MINUS + text
    return "+" + text if signed and rounded > 0 else text


def format_tick(value: float, decimals: int, *, signed: bool = False) -> str:
    """Return the label of a tick: a number, zero without decimals."""
    return "0" if value == 0 else format_number(value, decimals, signed=signed)


def count_tip(n: float) -> str:
    """Return how a tooltip ends that says on how many a value rests; nothing where n is unknown."""
    return "" if n is None or math.isnan(n) else f", n = {int(n)}"


def records_by(table: pd.DataFrame, *columns: str) -> dict[Any, dict[str, Any]]:
    """Return the rows of a table under the values of one column, or of several as a tuple."""
    rows = [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]
    if len(columns) == 1:
        return {row[columns[0]]: row for row in rows}
    return {tuple(row[column] for column in columns): row for row in rows}


def arrange(labels: Sequence[str]) -> list[int]:
    """Return the order that brings equal labels together, first met first."""
    first = {label: i for i, label in reversed(list(enumerate(labels)))}
    return sorted(range(len(labels)), key=lambda i: (first[labels[i]], i))


def starts(blocks: Sequence[str], step: float, gap: float) -> list[float]:
    """Return where every row or column starts, with a gap before each new block."""
    found, at = [], 0.0
    for i, block in enumerate(blocks):
        at += gap if i and block != blocks[i - 1] else 0.0
        found.append(at)
        at += step
    return found


def shorten(text: str, longest: int) -> str:
    """Return a text of at most so many characters, with an ellipsis where it is cut."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def fit(text: str, width: float, size: float) -> str:
    """Return as much of a text as fits into a width, with an ellipsis where it is cut."""
    if text_width(text, size) <= width:
        return text
    while text and text_width(f"{text}…", size) > width:
        text = text[:-1]
    return f"{text.rstrip()}…"


def round_up(value: float, steps: Sequence[float] = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)) -> float:
    """Return a round number at or above a positive value: a step times a power of ten.

    1.0 for anything else, so that an empty axis still has an end.
    """
    if not value > 0 or not math.isfinite(value):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return float(next(step * power for step in steps if step * power >= value * (1 - 1e-9)))


def decimals_for(limit: float) -> int:
    """Return the decimals that the half of an axis' end needs: 1.5 takes two, 15 takes one."""
    return max(0, 2 - math.floor(math.log10(limit)))
