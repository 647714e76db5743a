"""Numbers as reports print them: true minus signs, equal decimals, “a to b” for intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable

from evaluation.charts.text_metrics import DASH, format_number

MISSING = DASH


def number(value: float | None, decimals: int = 2, *, signed: bool = False) -> str:
    """Return ``value`` with fixed decimals, U+2212 for minus, an en dash where it is undefined."""
    return MISSING if value is None else format_number(value, decimals, signed=signed)


def sentence(reason: str) -> str:
    """Return a reason as a sentence of its own."""
    return f"{reason[:1].upper()}{reason[1:]}."


def interval(low: float, high: float, decimals: int = 2, *, signed: bool = False) -> str:
    """Return “low to high”; a dash between the two would be ambiguous beside minus signs."""
    if math.isnan(low) or math.isnan(high):
        return MISSING
    return f"{number(low, decimals, signed=signed)} to {number(high, decimals, signed=signed)}"


def value_range(values: Iterable[float | None], decimals: int = 2, *, signed: bool = False) -> str:
    """Return “low to high” of the values that are there, one number where both print alike."""
    known = [value for value in values if value is not None and not math.isnan(value)]
    if not known:
        return ""
    low, high = (number(end, decimals, signed=signed) for end in (min(known), max(known)))
    return low if low == high else f"{low} to {high}"


def percent(share: float) -> str:
    """Return a coverage as “95 %”."""
    return f"{100 * share:g} %"


def p_value(value: float) -> str:
    """Return “p = 0.03”, or “p < 0.001” below that."""
    if math.isnan(value):
        return "p undefined"
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def p_cell(value: float) -> str:
    """Return a p-value as a cell of a table: three decimals, “< 0.001” below them."""
    return "< 0.001" if value < 0.001 else number(value, 3)


def count(n: int, singular: str, plural: str = "") -> str:
    """Return “1 rating”, “20 ratings”, with a thin group separator from 10,000 on."""
    noun = singular if n == 1 else plural or f"{singular}s"
    figures = f"{n:,}".replace(",", "\u202f") if n >= 10_000 else str(n)
    return f"{figures} {noun}"


def listing(items: list[str] | tuple[str, ...]) -> str:
    """Return “a, b and c”."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"
