"""Surprisals of mentions, as people bring them: text with one word of a group a line."""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Mapping, Sequence

from evaluation.reports.parts.errors import ReportError

COLUMNS = ("group", "word", "surprisal")

Surprisals = dict[tuple[str, str], float]


def read_surprisals(text: str, words: Mapping[str, Sequence[str]] | None = None) -> Surprisals:
    """Return the mean surprisal in nats of every word of a CSV with group, word and surprisal.

    A word may have a line for each sentence in which it was measured.

    words : the words that there are, by group; None where that is not known yet

    Raises `ReportError` that names every bad line.
    """
    lines = csv.reader(text.strip().splitlines())
    head = [cell.strip().lower() for cell in next(lines, [])]
    if head != list(COLUMNS):
        raise ReportError(
            f"The surprisals begin with “{','.join(head)}”. Give the columns {', '.join(COLUMNS)}."
        )
    found: dict[tuple[str, str], list[float]] = {}
    problems = []
    for number, row in enumerate(lines, start=2):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        value = _number(cells[2]) if len(cells) == len(COLUMNS) else math.nan
        if not value >= 0:
            problems.append(f"Line {number}: give a group, a word and a surprisal of 0 or more.")
        elif words is not None and cells[1] not in words.get(cells[0], ()):
            problems.append(
                f"Line {number}: the runs have no word “{cells[1]}” of the group “{cells[0]}”."
            )
        else:
            found.setdefault((cells[0], cells[1]), []).append(value)
    if problems or not found:
        raise ReportError(
            " ".join(["The surprisals cannot be used.", *(problems or ["There is no line."])])
        )
    return {key: statistics.fmean(values) for key, values in found.items()}


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan
