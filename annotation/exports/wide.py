"""Wide tables: a row for each participant, text or counterpart, a column for each value of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import QuerySet

from annotation.common.tables import (
    LONGEST_VARIABLE,
    Cell,
    Column,
    ColumnType,
    Table,
    name_variables,
)
from annotation.exports.counterparts import COUNTERPART_FIELDS, select_counterparts
from annotation.exports.fields import Fields, coarsen
from annotation.exports.judgments import judgment_fields, select_judgments
from annotation.exports.ratings import select_ratings
from annotation.exports.submissions import build_submission_table
from annotation.models import Annotator, Study, StudyGroup, TraitScale

LONGEST_PART = (LONGEST_VARIABLE - 1) // 2
TEXT, NUMBER = ColumnType.TEXT, ColumnType.NUMBER
ON_SCALE = "0 to 100; empty: not rated"


def build_participant_table(study: Study, *, include: Collection[str] = ()) -> Table:
    """Return a row for each submission, with a column for each rated group or text and scale.

    It has the columns of the submissions, then the ratings, then those of the repeated group. Names
    are made of the beginnings of both slugs and stay when a later version adds groups or scales.
    The queries of the submissions' table, and three.
    """
    submissions = build_submission_table(study, include=include)
    places = {column.name: place for place, column in enumerate(submissions.columns)}
    groups = _list_rated(study)
    scales = _list_scales(study)
    short = {
        kind: {
            column.meaning: column.name
            for column in name_variables(
                (Column(slug, TEXT, "", slug) for slug in slugs), longest=LONGEST_PART
            )
        }
        for kind, slugs in (("group", groups), ("scale", scales))
    }
    ratings = [
        Column(
            f"{short['group'][group]}_{short['scale'][scale]}",
            NUMBER,
            ON_SCALE,
            f"{name}: {poles}",
            key=f"{group}, {scale}",
        )
        for group, name in groups.items()
        for scale, poles in scales.items()
    ]
    repeats = [
        Column("repeated", TEXT, "slug; empty: none", "what was rated a second time"),
        *(
            Column(
                f"repeat_{short['scale'][scale]}", NUMBER, ON_SCALE, f"Repeated: {poles}", key=scale
            )
            for scale, poles in scales.items()
        ),
    ]
    columns = [*submissions.columns]
    columns += name_variables([*ratings, *repeats], taken=places)

    def load() -> Iterator[Sequence[Cell]]:
        rows = select_ratings(study, include=include).values_list(
            "assignment__submission__public_id",
            "assignment__is_repeat",
            "assignment__group__slug",
            "scale__slug",
            "value",
        )
        pages = groupby(rows.iterator(chunk_size=500), key=itemgetter(0))
        found = next(pages, None)
        for row in submissions.load():
            values: dict[Any, float] = {}
            repeated = None
            # Both are in the order of the submissions; one without ratings has no page.
            if found and found[0] == row[places["submission"]]:
                for _submission, is_repeat, group, scale, value in found[1]:
                    values[None if is_repeat else group, scale] = value
                    repeated = group if is_repeat else repeated
                found = next(pages, None)
            yield [
                *row,
                *(values.get((group, scale)) for group in groups for scale in scales),
                repeated,
                *(values.get((None, scale)) for scale in scales),
            ]

    return Table("participants", columns, load)


def _list_rated(study: Study) -> dict[str, str]:
    """Return slug and name of what is rated, the oldest version first. One query."""
    rows = StudyGroup.objects.filter(instrument__study=study).order_by(
        "instrument__version", "position", "pk"
    )
    return dict(rows.values_list("slug", "plural"))


def _list_scales(study: Study) -> dict[str, str]:
    """Return slug and poles of the scales, the oldest version first. One query."""
    rows = TraitScale.objects.filter(instrument__study=study).order_by(
        "instrument__version", "position", "pk"
    )
    return {
        slug: f"0 {low}, 100 {high}" for slug, low, high in rows.values_list("slug", "low", "high")
    }


def build_written_text_table(study: Study) -> Table:
    """Return a row for each text, with what every annotator wrote of it. Two queries."""
    return _spread(study, "texts", COUNTERPART_FIELDS, select_counterparts(study))


def build_item_table(study: Study) -> Table:
    """Return a row for each counterpart, with what every judge said of it. Three queries."""
    return _spread(study, "items", judgment_fields(study), select_judgments(study))


def _spread(study: Study, name: str, fields: Fields, tidy: QuerySet[Any]) -> Table:
    """Return the tidy ``fields`` with what follows the annotator once for each annotator.

    Rows are one for each value of the second field, by which ``tidy`` is ordered.
    """
    columns = list(fields.values())
    place = [column.name for column in columns].index("annotator")
    about, made = columns[:place], columns[place + 1 :]
    annotators = Annotator.objects.filter(study=study).order_by("number")
    numbers = list(annotators.values_list("number", flat=True))

    def load() -> Iterator[Sequence[Cell]]:
        rows = tidy.values_list(*fields).iterator(chunk_size=500)
        for _key, group in groupby(rows, key=itemgetter(1)):
            found = {row[place]: row for row in group}
            first = next(iter(found.values()))
            cells = [*first[:place]]
            for number in numbers:
                cells += found[number][place + 1 :] if number in found else [None] * len(made)
            yield [coarsen(cell) for cell in cells]

    spread = [
        replace(
            column,
            name=f"{column.name}_a{number}",
            meaning=f"annotator {number}: {column.meaning}",
        )
        for number in numbers
        for column in made
    ]
    return Table(name, name_variables([*about, *spread]), load)
