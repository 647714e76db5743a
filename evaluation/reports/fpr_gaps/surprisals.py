"""Surprisals of mentions: from a run, or as people bring them, one word of a group a line."""

from __future__ import annotations

import csv
import hashlib
import json
import math
import statistics
from collections.abc import Mapping, Sequence

from evaluation.reports.parts.errors import ReportError
from probing.measures.mention_surprisal import SURPRISAL
from probing.models import Run, Score

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


def stored_surprisals(run: Run, words: Mapping[str, Sequence[str]]) -> tuple[Surprisals, str]:
    """Return the mean surprisals of a run's words, and their hash. One query.

    Raises `ReportError` where the run has none of the words.
    """
    rows = Score.objects.filter(run=run, name=SURPRISAL).exclude(template="")
    known = {(row.group, row.template): row.value for row in rows if row.value is not None}
    found = {
        (group, word): known[group, word]
        for group, own in words.items()
        for word in own
        if (group, word) in known
    }
    if not found:
        raise ReportError(
            f"{run} has none of the words of the other runs. Choose one with the same lexicons."
        )
    text = json.dumps(sorted([*key, value] for key, value in known.items()))
    return found, hashlib.sha256(text.encode()).hexdigest()


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return math.nan
    return value if math.isfinite(value) else math.nan
