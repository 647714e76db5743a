"""The ratings of a study as a tidy table: one row per rating."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from heapq import merge
from itertools import groupby, takewhile
from operator import itemgetter
from typing import Any

from django.db.models import CharField, QuerySet, Value

from annotation.common.tables import Cell, Column, ColumnType, Table, choice_column, name_variables
from annotation.exports.fields import Fields
from annotation.models import (
    DataDecision,
    Dimension,
    Means,
    Missing,
    MissingRating,
    Origin,
    Rating,
    Study,
    SubmissionOrigin,
    SubmissionState,
    TraitScale,
)
from annotation.models.submission import exported

TEXT, NUMBER, BOOLEAN = ColumnType.TEXT, ColumnType.NUMBER, ColumnType.BOOLEAN
INTEGER = ColumnType.INTEGER

# Each column with the field that it comes from.
RATING_FIELDS: Fields = {
    "assignment__submission__study__public_id": Column(
        "study", TEXT, "12 letters and digits", "public id of the study"
    ),
    "assignment__submission__study__origin": choice_column(
        "origin", Origin, "where the study's data come from"
    ),
    "assignment__submission__public_id": Column(
        "submission", TEXT, "12 letters and digits", "one participant's pass, no identity"
    ),
    "assignment__submission__state": choice_column(
        "submission_state", SubmissionState, "where the submission stood at the time of this export"
    ),
    "assignment__submission__origin": choice_column(
        "submission_origin", SubmissionOrigin, "live, or from a pilot or preview of the study"
    ),
    "assignment__submission__data_decision": choice_column(
        "data_decision", DataDecision, "whether the data count: analyses use accepted ones only"
    ),
    "assignment__submission__checks_passed": Column(
        "checks_passed", BOOLEAN, "empty: not known", "every attention check passed"
    ),
    "assignment__group__slug": Column(
        "group", TEXT, "slug", "the rated group, the key to models and norms"
    ),
    "assignment__group__plural": Column("group_text", TEXT, "text", "the group as people read it"),
    "assignment__position": Column(
        "group_position", INTEGER, "1 or more", "the group's place in the submission"
    ),
    "assignment__is_repeat": Column(
        "is_repeat",
        BOOLEAN,
        "true, false",
        "a repeated group: serves self-agreement, left out of means",
    ),
    "scale__slug": Column("scale", TEXT, "slug", "the trait scale, the key to models and norms"),
    "scale__low": Column("low", TEXT, "text", "adjective at 0"),
    "scale__high": Column("high", TEXT, "text", "adjective at 100"),
    "scale__dimension": choice_column("dimension", Dimension, "dimension of the ABC model"),
    "value": Column(
        "value",
        NUMBER,
        "0 to 100",
        "the rating in the scale's own direction, whatever side its poles stood on",
    ),
    "position": Column(
        "scale_position", INTEGER, "1 or more; empty: not known", "the line's place"
    ),
    "flipped": Column("flipped", BOOLEAN, "empty: not known", "the high pole stood on the left"),
    "first_touch_ms": Column(
        "first_touch_ms", INTEGER, "milliseconds; empty: not known", "page to first touch"
    ),
    "changes": Column(
        "changes", INTEGER, "0 or more; empty: not known", "how often the value changed"
    ),
    "means": choice_column("means", Means, "what the last answer was given by; empty: not known"),
    "assignment__submission__instrument__version": Column(
        "instrument_version", INTEGER, "1 or more", "version that the participant saw"
    ),
    "assignment__submission__instrument__content_hash": Column(
        "instrument_hash", TEXT, "SHA-256", "content of that version"
    ),
    "assignment__submission__arm": Column(
        "arm", TEXT, "name; empty: no arms", "arm of the instrument that the submission is in"
    ),
}


# In place of the groups, where texts are rated.
_TEXT_COLUMNS: Fields = {
    "assignment__group__slug": Column(
        "text", TEXT, "slug", "the text whose speaker is rated, the key to its corpus"
    ),
    "assignment__group__item": Column(
        "pair", TEXT, "slug", "what the text is a guise of; nobody rates two of one pair"
    ),
    "assignment__group__variety": Column(
        "variety", TEXT, "name", "the variety of the text, its guise"
    ),
    "assignment__group__body": Column("body", TEXT, "text", "the text as people read it"),
    "assignment__position": Column(
        "text_position", INTEGER, "1 or more", "the text's place in the submission"
    ),
    "assignment__is_repeat": Column(
        "is_repeat",
        BOOLEAN,
        "true, false",
        "a repeated text: serves self-agreement, left out of means",
    ),
}
_GROUP_PATHS = ("assignment__group", "assignment__position", "assignment__is_repeat")
_BEFORE_RATED = list(takewhile(lambda path: not path.startswith(_GROUP_PATHS), RATING_FIELDS))
GUISE_FIELDS: Fields = {
    **{path: RATING_FIELDS[path] for path in _BEFORE_RATED},
    **_TEXT_COLUMNS,
    **{
        path: column
        for path, column in RATING_FIELDS.items()
        if path not in _BEFORE_RATED and not path.startswith(_GROUP_PATHS)
    },
}


#: The place of a line in exports; no page has two of one.
_ORDER = ("assignment__submission__pk", "assignment__position", "scale__position", "scale__pk")


def rating_fields(study: Study) -> Fields:
    """Return the columns of a study's ratings: those of groups, or those of texts."""
    return GUISE_FIELDS if study.rates_texts else RATING_FIELDS


def select_ratings(study: Study, *, include: Collection[str] = ()) -> QuerySet[Rating]:
    """Return the ratings of a study in the order of its exports.

    Only submissions that count, and those in ``include``: pilot, preview, excluded.
    """
    return Rating.objects.filter(
        exported(include, of="assignment__submission__"), assignment__submission__study=study
    ).order_by(*_ORDER)


#: Why a rating is missing, the last column of the tidy table.
MISSING = replace(
    choice_column("missing", Missing, "why the participant left the line out"),
    values=f"{', '.join(Missing.values)}; empty: rated",
)
#: The same among the numbers of a wide table, where a cell is both.
MISSING_WORDS = {kind: f"[{kind}]" for kind in Missing.values}
ON_SCALE = f"0 to 100; {', '.join(MISSING_WORDS.values())}: left out; empty: not rated"
MISSING_LABELS = tuple((MISSING_WORDS[value], str(label)) for value, label in Missing.choices)


def read_rows(
    study: Study, paths: Sequence[str], *, include: Collection[str] = ()
) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each line that was rated or left out, in the order of the exports.

    Cells are those of ``paths``, then why the line has no rating, None for one. Two queries.
    """
    of_both = {field.name for field in MissingRating._meta.concrete_fields}
    own = [field for field in Rating._meta.concrete_fields if field.name not in of_both]
    nothing: dict[str, Any] = {field.name: Value(None, field) for field in own}
    left_out = MissingRating.objects.filter(
        exported(include, of="assignment__submission__"), assignment__submission__study=study
    )
    rated = select_ratings(study, include=include).annotate(kind=Value(None, CharField()))
    streams = (
        rows.order_by(*_ORDER).values_list(*_ORDER, *paths, "kind").iterator(chunk_size=500)
        for rows in (rated, left_out.annotate(**nothing))
    )
    place = itemgetter(slice(len(_ORDER)))
    return (row[len(_ORDER) :] for row in merge(*streams, key=place))


def build_rating_table(study: Study, *, include: Collection[str] = ()) -> Table:
    """Return a study's ratings, and lines that were left out. Two queries each time it is read."""
    fields = rating_fields(study)
    return Table(
        "ratings",
        (*fields.values(), MISSING),
        lambda: read_rows(study, [*fields], include=include),
    )


def build_page_table(study: Study, *, include: Collection[str] = ()) -> Table:
    """Return the ratings with a row for each page and a column for each scale.

    Scales are those of all versions of the instrument, in their order. Three queries.
    """
    scales = list(
        dict.fromkeys(
            TraitScale.objects.filter(instrument__study=study)
            .order_by("-instrument__version", "position")
            .values_list("slug", "low", "high")
        )
    )
    slugs = list(dict.fromkeys(slug for slug, _low, _high in scales))
    poles = {slug: f"0 {low}, 100 {high}" for slug, low, high in reversed(scales)}
    fields = {
        path: column
        for path, column in rating_fields(study).items()
        if path.startswith("assignment__")
    }

    def load() -> Iterator[Sequence[Cell]]:
        rows = read_rows(study, ["assignment", "scale__slug", "value", *fields], include=include)
        for _page, found in groupby(rows, key=itemgetter(0)):
            lines = list(found)
            values = {row[1]: MISSING_WORDS.get(row[-1], row[2]) for row in lines}
            yield [*lines[0][3:-1], *(values.get(slug) for slug in slugs)]

    columns = list(fields.values())
    columns += [Column(slug, NUMBER, ON_SCALE, poles[slug], MISSING_LABELS) for slug in slugs]
    return Table("pages", tuple(name_variables(columns)), load)
