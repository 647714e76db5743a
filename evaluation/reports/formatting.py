"""Numbers as reports print them: true minus signs, equal decimals, “a to b” for intervals."""

from __future__ import annotations

import math

MISSING = "–"


def number(value: float | None, decimals: int = 2, *, signed: bool = False) -> str:
    """Return ``value`` with fixed decimals, U+2212 for minus, an en dash where it is undefined."""
    if value is None or math.isnan(value):
        return MISSING
    text = f"{value:+.{decimals}f}" if signed else f"{value:.{decimals}f}"
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("-", "−")


def interval(low: float, high: float, decimals: int = 2, *, signed: bool = False) -> str:
    """Return “low to high”; a dash between the two would be ambiguous beside minus signs."""
    if math.isnan(low) or math.isnan(high):
        return MISSING
    return f"{number(low, decimals, signed=signed)} to {number(high, decimals, signed=signed)}"


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
