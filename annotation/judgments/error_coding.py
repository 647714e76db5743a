"""The errors that judges mark in a counterpart: a scheme of categories, and passages of words.

A judge ticks words; consecutive ticked words of one category are one passage. Passages are stored
as characters of the counterpart, so that results do not hang on what counts as a word here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

from django.core.exceptions import ValidationError
from django.utils.text import slugify
from django.utils.translation import gettext as _
from pydantic import BaseModel, ConfigDict, StringConstraints, TypeAdapter
from pydantic import ValidationError as SchemaError
from simple_history.utils import bulk_create_with_history

from annotation.annotators.errors import WorkRefused
from annotation.common.text_shortening import shorten
from annotation.models import CodedError, Judgment, Study, TaskState

# --- The errors that judges mark in a counterpart: a small scheme of categories
#
# Deas et al. (2023) §6 and Table 4 tell two kinds of error apart by inspection: what a model
# neutralizes, and what it misreads. The third, what it invents, is ours. Researchers edit the
# scheme until the study is launched.

LONGEST_NAME, LONGEST_MEANING, MOST_CATEGORIES = 40, 200, 6


class ErrorCategory(BaseModel):
    """A category: ``slug`` joins data, judges read the name and what it means."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    slug: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
    name: Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME)]
    meaning: Annotated[str, StringConstraints(max_length=LONGEST_MEANING)] = ""


Scheme = tuple[ErrorCategory, ...]
_ADAPTER: TypeAdapter[Scheme] = TypeAdapter(Scheme)

DEFAULT_SCHEME: Scheme = (
    ErrorCategory(
        slug="neutralized",
        name="Neutralized",
        meaning="Says it more weakly, politely or blandly than the original does.",
    ),
    ErrorCategory(
        slug="misread",
        name="Misread",
        meaning="Takes a word or construction of the original for something that it does not mean.",
    ),
    ErrorCategory(
        slug="invented", name="Invented", meaning="Adds something that the original does not say."
    ),
)


def parse_scheme(stored: Sequence[Any]) -> Scheme:
    """Return the scheme of a design from its JSON, () where judges mark no errors.

    Raises Django's `ValidationError` for what is no scheme.
    """
    try:
        scheme = _ADAPTER.validate_python(tuple(stored))
    except SchemaError as error:
        raise ValidationError(
            [f"{' '.join(map(str, found['loc']))}: {found['msg']}." for found in error.errors()]
        ) from None
    _check(scheme)
    return scheme


def _check(scheme: Scheme) -> None:
    if len(scheme) > MOST_CATEGORIES:
        raise ValidationError(_("Enter at most %(most)d categories.") % {"most": MOST_CATEGORIES})
    times = Counter(category.slug for category in scheme)
    names = {category.slug: category.name for category in reversed(scheme)}
    twice = [
        _("“%(name)s” stands there twice: give every category a name of its own.") % {"name": name}
        for slug, name in names.items()
        if times[slug] > 1
    ]
    if twice:
        raise ValidationError(twice)


def store_scheme(scheme: Scheme) -> list[dict[str, str]]:
    """Return a scheme as designs and reports keep it."""
    return [category.model_dump() for category in scheme]


def write_scheme(scheme: Scheme) -> str:
    """Return a scheme as the form shows it: one category on each line, “name: meaning”."""
    return "\n".join(
        f"{category.name}: {category.meaning}" if category.meaning else category.name
        for category in scheme
    )


def read_scheme(text: str) -> Scheme:
    """Return the scheme that lines of “name: meaning” describe.

    Raises `ValidationError` with every line that cannot be one, and for none or too many.
    """
    problems, found = [], []
    for number, line in enumerate(filter(str.strip, text.splitlines()), start=1):
        name, _colon, meaning = (part.strip() for part in line.partition(":"))
        slug = slugify(name, allow_unicode=True)
        if not slug or len(name) > LONGEST_NAME:
            problems.append(
                _("Line %(n)d: begin with a name of up to %(most)d characters, then a colon.")
                % {"n": number, "most": LONGEST_NAME}
            )
        elif len(meaning) > LONGEST_MEANING:
            problems.append(
                _("Line %(n)d: explain the category in up to %(most)d characters.")
                % {"n": number, "most": LONGEST_MEANING}
            )
        else:
            found.append(ErrorCategory(slug=slug, name=name, meaning=meaning))
    if problems:
        raise ValidationError(problems)
    if not found:
        raise ValidationError(_("Enter at least one category, one per line."))
    _check(tuple(found))
    return tuple(found)


# --- Marked passages

WORD = re.compile(r"\S+")
#: One passage as tables have it: “misread 5-12”.
MARK = re.compile(r"(\S+) +(\d{1,9})-(\d{1,9})")
#: The field at which problems of the coding stand.
ERRORS = "errors"


@dataclass(frozen=True)
class Word:
    """What a judge ticks: a run of characters without blanks, with its place in the text."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, order=True)
class Passage:
    """Characters ``start`` to ``end`` of a counterpart in one category."""

    category: str
    start: int
    end: int


@dataclass(frozen=True)
class SentErrors:
    """What a page sent: for each category the places of ticked words, and whether “none” is."""

    words: Mapping[str, Sequence[str]]
    none: bool = False


@dataclass(frozen=True)
class CodedRow:
    """One judge's coding of one counterpart, as reports take it."""

    item: int
    annotator: int
    passages: tuple[Passage, ...]


def split_into_words(body: str) -> list[Word]:
    return [Word(match.start(), match.end(), match.group()) for match in WORD.finditer(body)]


def read_passages(body: str, scheme: Scheme, sent: SentErrors) -> list[Passage]:
    """Return the passages that ticked words make up.

    Raises `WorkRefused` where nothing is ticked, or both words and “none”, and for words and
    categories that the page does not have.
    """
    words = split_into_words(body)
    places = {str(place): place for place in range(len(words))}
    known = {category.slug for category in scheme}
    ticked = {slug: list(values) for slug, values in sent.words.items() if values}
    if ticked.keys() - known or any(v not in places for values in ticked.values() for v in values):
        raise WorkRefused({ERRORS: _("The page is not up to date. Reload it and mark again.")})
    if ticked and sent.none:
        raise WorkRefused(
            {ERRORS: _("Words are marked, and “No errors” is ticked. Undo one of the two.")}
        )
    if not ticked and not sent.none:
        raise WorkRefused({ERRORS: _("Mark the words that are errors, or tick “No errors”.")})
    return sorted(
        Passage(slug, words[first].start, words[last].end)
        for slug, values in ticked.items()
        for first, last in _runs(places[value] for value in values)
    )


def ticked_words(body: str, passages: Iterable[Passage]) -> dict[str, list[str]]:
    """Return for each category the places of the words that its passages hold."""
    words = split_into_words(body)
    found: dict[str, list[str]] = {}
    for passage in passages:
        found.setdefault(passage.category, []).extend(
            str(place)
            for place, word in enumerate(words)
            if word.start < passage.end and passage.start < word.end
        )
    return found


def write_passages(passages: Iterable[Passage]) -> str:
    """Return passages as tables have them, such as “misread 5-12; invented 20-24”."""
    return "; ".join(f"{one.category} {one.start}-{one.end}" for one in sorted(passages))


def parse_passages(text: str, body: str, categories: Iterable[str]) -> list[Passage]:
    """Return the passages of a table's cell, () for none.

    Raises ValueError for what is no passage of ``body`` in one of the categories, and for two of
    one category that overlap.
    """
    known, found = set(categories), []
    for part in filter(None, map(str.strip, text.split(";"))):
        match = MARK.fullmatch(part)
        if not match:
            raise ValueError(f"“{shorten(part)}”, expected passages such as “misread 5-12”")
        passage = Passage(match[1], int(match[2]), int(match[3]))
        if passage.category not in known:
            listed = ", ".join(sorted(known))
            raise ValueError(f"the category “{shorten(match[1])}”, expected one of: {listed}")
        if not passage.start < passage.end <= len(body):
            raise ValueError(f"“{part}”, expected characters of the {len(body)} of the counterpart")
        found.append(passage)
    found.sort()
    for one, other in pairwise(found):
        if one.category == other.category and other.start < one.end:
            raise ValueError(f"passages of “{one.category}” that overlap, expected one of them")
    return found


def stored_passages(judgment: Judgment) -> list[Passage]:
    """One query."""
    rows = CodedError.objects.filter(judgment=judgment).values_list("category", "start", "end")
    return sorted(Passage(*row) for row in rows)


def store_passages(judgment: Judgment, passages: Sequence[Passage]) -> bool:
    """Make ``passages`` those of the judgment; return whether they differ from those before."""
    before, after = set(stored_passages(judgment)), set(passages)
    for row in CodedError.objects.filter(judgment=judgment):
        if Passage(row.category, row.start, row.end) not in after:
            row.delete()
    bulk_create_with_history(
        [
            CodedError(judgment=judgment, category=one.category, start=one.start, end=one.end)
            for one in sorted(after - before)
        ],
        CodedError,
    )
    return before != after


def load_passages(study: Study) -> dict[int, list[Passage]]:
    """Return what is marked in a study, by judgment. One query."""
    passages: dict[int, list[Passage]] = {}
    rows = CodedError.objects.filter(judgment__task__study=study).order_by("pk")
    for judgment, name, start, end in rows.values_list("judgment", "category", "start", "end"):
        passages.setdefault(judgment, []).append(Passage(name, start, end))
    return passages


def load_codings(study: Study) -> list[CodedRow]:
    """Return the coding of every judgment, item by item, those without errors too. Two queries."""
    passages = load_passages(study)
    judged = Judgment.objects.filter(task__study=study, task__state=TaskState.DONE).order_by(
        "task__item", "task__annotator__number"
    )
    return [
        CodedRow(item, annotator, tuple(sorted(passages.get(pk, ()))))
        for pk, item, annotator in judged.values_list("pk", "task__item", "task__annotator__number")
    ]


def _runs(places: Iterable[int]) -> list[tuple[int, int]]:
    """Return first and last of every run of consecutive numbers."""
    found: list[tuple[int, int]] = []
    for place in sorted(set(places)):
        if found and place == found[-1][1] + 1:
            found[-1] = (found[-1][0], place)
        else:
            found.append((place, place))
    return found
