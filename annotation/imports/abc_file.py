"""Reads the JSON shape of published group ratings: annotator → group → trait pair → value.

Nothing here touches the database: a file becomes rows and problems, and a caller decides.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from annotation.common.text_shortening import shorten

# The file's names that differ from the library's, methods of the data's README.
GROUP_SPELLINGS = {"transgender people": "trans", "Blacks/African Americans": "black"}
POLE_SPELLINGS = {"egoistic": "egotistic", "dominating": "dominant"}

LONGEST_NAME = 27  # leaves room for the file's hash in a pseudonym
NUMBER = re.compile(r"[+-]?\d{1,9}(\.\d{1,9})?", re.ASCII)
POLE_SEPARATOR = re.compile(r"\s+[-–—]\s+")
#: Where there is none with spaces: “cold-warm”, “cold / warm”, “cold vs. warm”.
TIGHT_SEPARATOR = re.compile(r"\s*[-–—/|]\s*|\s+vs\.?\s+")


class AbcFileError(ValueError):
    """A file that cannot be read at all; the message says where and what was expected."""


class RatingEntry(NamedTuple):
    """``group`` and ``scale`` are library slugs; ``value`` is 0 to 100, 0 at the low pole."""

    annotator: str
    group: str
    scale: str
    value: float


@dataclass(frozen=True)
class Problem:
    """One bad place of a file; ``n_ratings`` values are lost if it is skipped."""

    path: tuple[str, ...]
    message: str
    n_ratings: int

    def __str__(self) -> str:
        return f"{' → '.join(shorten(part) for part in self.path)}: {self.message}"


@dataclass(frozen=True)
class ParsedFile:
    """Rows in the file's order and everything that is wrong with the rest.

    names : slug → how the file spells the group or trait pair
    """

    rows: tuple[RatingEntry, ...]
    problems: tuple[Problem, ...]
    names: Mapping[str, str]

    @property
    def n_skipped(self) -> int:
        """Values that lie under a problem."""
        return sum(problem.n_ratings for problem in self.problems)


@dataclass(frozen=True)
class Vocabulary:
    """Spellings of groups and of pole pairs, normalized, with the slugs that they stand for."""

    groups: Mapping[str, str]
    scales: Mapping[tuple[str, str], str]

    def find_group(self, name: str) -> str | None:
        return self.groups.get(_normalize(name))

    def find_scale(self, name: str) -> str | None:
        poles = _split_poles(name)
        return self.scales.get(poles) if poles else None

    def is_reversed(self, name: str) -> bool:
        """Whether ``name`` is a known pair with its poles exchanged."""
        poles = _split_poles(name)
        return poles is not None and poles[::-1] in self.scales


def build_vocabulary(
    groups: Iterable[tuple[str, Iterable[str]]], scales: Iterable[tuple[str, str, str]]
) -> Vocabulary:
    """Return the vocabulary of a library.

    ``groups`` are (slug, surface forms), ``scales`` are (slug, low, high).
    """
    forms = {_normalize(form): slug for slug, names in groups for form in names}
    known = set(forms.values())
    for spelling, slug in GROUP_SPELLINGS.items():
        if slug in known:
            forms.setdefault(_normalize(spelling), slug)
    pairs = {(_normalize(low), _normalize(high)): slug for slug, low, high in scales}
    return Vocabulary(forms, pairs)


def parse_abc_file(content: bytes, vocabulary: Vocabulary) -> ParsedFile:
    """Return every row and every problem of a file.

    Raises `AbcFileError` where the file as a whole is not of the expected shape.
    """
    annotators = _load_annotators(content)
    reader = _Reader(vocabulary)
    for name, copies in _group_copies(annotators).items():
        reader.read_annotator(name, copies)
    return ParsedFile(tuple(reader.rows), tuple(reader.problems), reader.names)


class _Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs, so that a repeated key is seen rather than lost."""


def _load_annotators(content: bytes) -> _Pairs:
    if not content.strip():
        raise AbcFileError("The file is empty, expected a JSON object of annotators.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise AbcFileError(
            f"The file is not UTF-8 text: byte {error.start + 1} is not valid."
        ) from error
    try:
        loaded = json.loads(text, object_pairs_hook=_Pairs)
    except json.JSONDecodeError as error:
        cut = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        what = "ends too early" if cut else "is not JSON"
        raise AbcFileError(
            f"The file {what}: line {error.lineno}, column {error.colno}: {error.msg}."
        ) from error
    except RecursionError as error:
        raise AbcFileError(
            "The file is nested too deeply, expected annotator → group → trait pair → value."
        ) from error
    except ValueError as error:  # numbers of thousands of digits
        raise AbcFileError(f"The file cannot be read: {error}.") from error
    if not isinstance(loaded, _Pairs):
        raise AbcFileError(
            f"The file holds {_describe(loaded)}, expected an object of annotators: "
            "annotator → group → trait pair → value."
        )
    if not loaded:
        raise AbcFileError("The file holds no annotator, expected at least one.")
    return loaded


def _group_copies(pairs: _Pairs) -> dict[str, list[Any]]:
    """Return the values of each key, more than one where the file repeats the key."""
    copies: dict[str, list[Any]] = {}
    for name, value in pairs:
        copies.setdefault(name, []).append(value)
    return copies


@dataclass
class _Reader:
    vocabulary: Vocabulary
    rows: list[RatingEntry] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    def read_annotator(self, name: str, copies: list[Any]) -> None:
        path = (name,)
        if not name.strip() or len(name) > LONGEST_NAME:
            self._report(path, f"expected a name of 1 to {LONGEST_NAME} characters.", copies)
        elif len(copies) > 1:
            self._report(path, f"stands in the file {len(copies)} times, expected once.", copies)
        elif not isinstance(copies[0], _Pairs):
            self._report(path, f"{_describe(copies[0])}, expected an object of groups.", copies)
        elif not copies[0]:
            self._report(path, "has no group, expected at least one.", copies)
        else:
            self._read_groups(path, copies[0])

    def _read_groups(self, path: tuple[str, ...], groups: _Pairs) -> None:
        by_slug: dict[str, list[tuple[str, Any]]] = {}
        for name, value in groups:
            slug = self.vocabulary.find_group(name)
            if slug is None:
                self._report(
                    (*path, name), "is no group of the library, expected one by name.", [value]
                )
            else:
                by_slug.setdefault(slug, []).append((name, value))
        for slug, found in by_slug.items():
            here = (*path, found[0][0])
            values = [value for _, value in found]
            if len(found) > 1:
                names = ", ".join(f"“{name}”" for name, _ in found)
                self._report(
                    here,
                    f"the group stands here {len(found)} times: {names}, expected once.",
                    values,
                )
            elif not isinstance(values[0], _Pairs):
                self._report(
                    here, f"{_describe(values[0])}, expected an object of trait pairs.", values
                )
            elif not values[0]:
                self._report(here, "has no trait pair, expected at least one.", values)
            else:
                self._read_scales(here, slug, values[0])

    def _read_scales(self, path: tuple[str, ...], group: str, scales: _Pairs) -> None:
        by_slug: dict[str, list[tuple[str, Any]]] = {}
        for name, value in scales:
            slug = self.vocabulary.find_scale(name)
            if slug is None:
                self._report((*path, name), self._explain_scale(name), [value])
            else:
                by_slug.setdefault(slug, []).append((name, value))
        for slug, found in by_slug.items():
            here = (*path, found[0][0])
            values = [value for _, value in found]
            number = _read_number(values[0])
            if len(found) > 1:
                self._report(
                    here,
                    f"the trait pair stands here {len(found)} times, expected once.",
                    values,
                )
            elif number is None:
                self._report(
                    here, f"{_describe(values[0])}, expected a number from 0 to 100.", values
                )
            else:
                self.rows.append(RatingEntry(path[0], group, slug, number))
                self.names.setdefault(group, path[1].strip())
                self.names.setdefault(slug, here[-1].strip())

    def _explain_scale(self, name: str) -> str:
        if self.vocabulary.is_reversed(name):
            return "has its poles exchanged, expected the low pole first."
        return "is no trait pair of the library, expected “low pole - high pole”."

    def _report(self, path: tuple[str, ...], message: str, lost: list[Any]) -> None:
        self.problems.append(Problem(path, message, sum(_count_values(value) for value in lost)))


def _read_number(value: object) -> float | None:
    """Return a rating written as a number or as a string, None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        number = float(value) if abs(value) <= 100 else None
    elif isinstance(value, str) and NUMBER.fullmatch(value.strip()):
        number = float(value)
    else:
        return None
    return number if number is not None and 0 <= number <= 100 else None


def _count_values(value: object) -> int:
    if isinstance(value, _Pairs):
        return sum(_count_values(inner) for _, inner in value)
    return 1


def _normalize(name: str) -> str:
    words = name.replace("-", " ").split()
    return " ".join(words).casefold()


def _split_poles(name: str) -> tuple[str, str] | None:
    parts = POLE_SEPARATOR.split(name.strip())
    if len(parts) == 1:
        parts = TIGHT_SEPARATOR.split(name.strip())
    if len(parts) != 2:
        return None
    low, high = (POLE_SPELLINGS.get(part.casefold(), part) for part in parts)
    return _normalize(low), _normalize(high)


def _describe(value: object) -> str:
    if isinstance(value, _Pairs):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None:
        return "null"
    return f"“{shorten(str(value))}”"
