"""A list of expected emergent traits, as people bring it: text with one association a line."""

from __future__ import annotations

import csv
from typing import cast

from annotation.models import Dimension, SocialGroup
from evaluation.analyses.emergence_norms import Association, Pole
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.formatting import listing

COLUMNS = ("first", "second", "dimension", "pole")
POLES = ("low", "high")


def read_norms(text: str) -> frozenset[Association]:
    """Return the associations of a CSV with the columns first, second, dimension and pole.

    first, second : slugs of groups of the library, in either order
    pole : “high” or “low”, the end of the dimension that people expect

    Raises `ReportError` that names every bad line. One query.
    """
    lines = csv.reader(text.strip().splitlines())
    head = [cell.strip().lower() for cell in next(lines, [])]
    if head != list(COLUMNS):
        raise ReportError(
            f"The norms begin with “{','.join(head)}”, expected the columns {', '.join(COLUMNS)}."
        )
    rows = [
        (number, tuple(cell.strip() for cell in row))
        for number, row in enumerate(lines, start=2)
        if any(cell.strip() for cell in row)
    ]
    if not rows:
        raise ReportError("The norms hold no association below their head.")
    slugs = {cell for _, row in rows for cell in row[:2]}
    known = set(SocialGroup.objects.filter(slug__in=slugs).values_list("slug", flat=True))
    found: dict[Association, int] = {}
    problems = []
    for number, row in rows:
        problem = _judge(row, known)
        if problem:
            problems.append(f"Line {number}: {problem}")
            continue
        first, second, dimension, pole = row
        association = Association(
            frozenset((first, second)), dimension.lower(), cast("Pole", pole.lower())
        )
        if association in found:
            problems.append(f"Line {number}: the same as line {found[association]}.")
            continue
        found[association] = number
    if problems:
        raise ReportError(" ".join(["The norms cannot be used.", *problems]))
    return frozenset(found)


def _judge(row: tuple[str, ...], known: set[str]) -> str:
    """Return what is wrong with a line, nothing if it is right."""
    if len(row) != len(COLUMNS):
        return f"{len(row)} cells, expected {len(COLUMNS)}: {', '.join(COLUMNS)}."
    first, second, dimension, pole = row
    wrong = [
        f"the library has no group “{slug}”"
        for slug in dict.fromkeys((first, second))
        if slug not in known
    ]
    if first == second:
        wrong.append(f"“{first}” is paired with itself")
    if dimension.lower() not in Dimension.values:
        wrong.append(f"the dimension is “{dimension}”, expected {listing(Dimension.values)}")
    if pole.lower() not in POLES:
        wrong.append(f"the pole is “{pole}”, expected low or high")
    return f"{'; '.join(wrong)}." if wrong else ""
