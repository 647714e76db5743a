"""Imports norms from CSV: percentages of named attributes, favourability, occupational prestige.

One row for each value; the column of the value says which kind of norm it is. A file may hold
several studies, told apart by ``study_key``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.text import slugify

from annotation.common.table_file import Problem, Record, TableFileError, read_table
from evaluation.models import Norm, NormKind

#: Column of the value → the columns that may name what it is a value of.
LABELS = {
    NormKind.PERCENT: ("adjective", "attribute", "label"),
    NormKind.FAVOURABILITY: ("adjective", "attribute", "label"),
    NormKind.PRESTIGE: ("title", "occupation", "label"),
}
STUDY, YEAR, NOTE, SOURCES = "study_key", "year", "note", ("source", "citation")
LONGEST_LABEL = 200


class NormFileError(ValueError):
    """A file that cannot be taken in; ``problems`` names its bad rows, if any."""

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


@dataclass
class ParsedNorm:
    """One study of a file."""

    key: str
    kind: NormKind
    year: int | None
    citation: str
    values: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def title(self) -> str:
        return self.citation.split(";")[0].split(" (scale")[0].strip()[:160] or self.key


def parse_norms(content: bytes, file_name: str) -> list[ParsedNorm]:
    """Return the norms of a file; `NormFileError` names every bad row, and none is taken then."""
    try:
        records = read_table(content, file_name).records
    except TableFileError as error:
        raise NormFileError(str(error)) from error
    columns = next((record.values for record in records if not record.fault), {})
    kind = _kind(columns)
    label = next((name for name in LABELS[kind] if name in columns), None)
    if label is None:
        raise NormFileError(
            f"The file has “{kind.value}”, but no column says of what. Add one of: "
            f"{', '.join(LABELS[kind])}."
        )
    source = next((name for name in SOURCES if name in columns), None)
    if source is None:
        raise NormFileError("The file names no source. Add a column “source” with the citation.")
    norms: dict[str, ParsedNorm] = {}
    problems: list[Problem] = []
    for record in records:
        fault = record.fault or _take(norms, record, kind, label, source, file_name)
        if fault:
            problems.append(Problem(record.line, fault))
    if problems:
        raise NormFileError(f"Nothing was imported: {len(problems)} rows are bad.", problems)
    return list(norms.values())


@transaction.atomic
def import_norms(
    *, content: bytes, file_name: str, user: AbstractBaseUser | None = None
) -> list[Norm]:
    """Store the norms of a file; one of the same slug is replaced, and its history kept.

    Raises `NormFileError`; then nothing is stored.
    """
    stored = []
    for parsed in parse_norms(content, file_name):
        norm = Norm.objects.filter(slug=parsed.key).first() or Norm(slug=parsed.key)
        norm.title, norm.kind, norm.year = parsed.title, parsed.kind, parsed.year
        norm.values, norm.citation = parsed.values, parsed.citation
        norm.note = "; ".join(dict.fromkeys(parsed.notes))[:1000]
        norm._history_user = user  # type: ignore[attr-defined] # as django-simple-history has it
        try:
            norm.full_clean()
        except ValidationError as error:
            raise NormFileError(f"“{parsed.key}”: {' '.join(error.messages)}") from error
        norm.save()
        stored.append(norm)
    return stored


def _kind(columns: Mapping[str, Any]) -> NormKind:
    found = [kind for kind in NormKind if kind.value in columns]
    if len(found) != 1:
        raise NormFileError(
            "The file says not which norm it holds. Head the column of its values with one of: "
            f"{', '.join(NormKind.values)}."
        )
    return found[0]


def _take(
    norms: dict[str, ParsedNorm],
    record: Record,
    kind: NormKind,
    label: str,
    source: str,
    file_name: str,
) -> str:
    """Add a row to its norm; returns what is wrong with it, empty for a good one."""
    row = {name: str(value or "").strip() for name, value in record.values.items()}
    name = row[label]
    if not name or len(name) > LONGEST_LABEL:
        return f"“{label}” is “{name[:40]}”, expected 1 to {LONGEST_LABEL} characters."
    try:
        value = float(row[kind.value])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        return f"“{kind.value}” is “{row[kind.value]}”. Enter a number."
    if kind is NormKind.PERCENT and not 0 <= value <= 100:
        return f"“percent” is {value:g}. Enter a number from 0 to 100."
    year = row.get(YEAR, "")
    if year and not year.isdecimal():
        return f"“year” is “{year}”. Enter a year such as 1933."
    key = slugify(row.get(STUDY, "")) or slugify(PurePath(file_name).stem)
    norm = norms.setdefault(key, ParsedNorm(key, kind, int(year) if year else None, row[source]))
    if name in norm.values:
        return f"“{name}” comes twice. Name it once."
    if not norm.citation:
        return "“source” is empty. Name the study that the value comes from."
    norm.values[name] = value
    if row.get(NOTE):
        norm.notes.append(row[NOTE])
    return ""
