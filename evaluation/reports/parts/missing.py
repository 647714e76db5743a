"""What a report could not use, told in few lines: reasons that differ in a number are one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")

NUMBER = re.compile(r"\d+")


def join_reasons(entries: Iterable[tuple[T, str, int]]) -> list[tuple[T, str, int]]:
    """Return (what, reason, n) with the reasons of one thing joined where only numbers differ.

    >>> join_reasons([("a", "53 of 64 tokens", 7), ("a", "58 of 64 tokens", 2)])
    [('a', '53 to 58 of 64 tokens', 9)]
    """
    groups: dict[tuple[T, tuple[str, ...]], list[tuple[list[int], int]]] = {}
    for what, reason, n in entries:
        numbers = [int(found) for found in NUMBER.findall(reason)]
        groups.setdefault((what, tuple(NUMBER.split(reason))), []).append((numbers, n))
    return [
        (what, _fill(parts, [numbers for numbers, _ in rows]), sum(n for _, n in rows))
        for (what, parts), rows in groups.items()
    ]


def _fill(parts: tuple[str, ...], rows: list[list[int]]) -> str:
    text = parts[0]
    for values, part in zip(zip(*rows, strict=True), parts[1:], strict=True):
        low, high = min(values), max(values)
        text += (str(low) if low == high else f"{low} to {high}") + part
    return text
