"""Which tables a study of each kind is exported as."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.common.tables import (
    LONGEST_VARIABLE,
    Cell,
    Column,
    ColumnType,
    Table,
    name_variables,
)
from annotation.exports.counterparts import (
    COUNTERPART_FIELDS,
    build_counterpart_table,
    build_writing_task_table,
    select_counterparts,
)
from annotation.exports.fields import Fields, coarsen
from annotation.exports.judgments import (
    build_error_table,
    build_judgment_table,
    judgment_fields,
    marks_errors,
    select_judgments,
)
from annotation.exports.ratings import (
    MISSING_LABELS,
    MISSING_WORDS,
    ON_SCALE,
    build_page_table,
    build_rating_table,
    read_rows,
)
from annotation.exports.step_answers import build_answer_table
from annotation.exports.submissions import build_submission_table
from annotation.models import Annotator, Study, StudyGroup, StudyKind, TraitScale

# --- Wide tables ---

LONGEST_PART = (LONGEST_VARIABLE - 1) // 2
TEXT, NUMBER = ColumnType.TEXT, ColumnType.NUMBER


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
            MISSING_LABELS,
            key=f"{group}, {scale}",
        )
        for group, name in groups.items()
        for scale, poles in scales.items()
    ]
    repeats = [
        Column("repeated", TEXT, "slug; empty: none", "what was rated a second time"),
        *(
            Column(
                f"repeat_{short['scale'][scale]}",
                NUMBER,
                ON_SCALE,
                f"Repeated: {poles}",
                MISSING_LABELS,
                key=scale,
            )
            for scale, poles in scales.items()
        ),
    ]
    columns = [*submissions.columns]
    columns += name_variables([*ratings, *repeats], taken=places)

    def load() -> Iterator[Sequence[Cell]]:
        paths = [
            "assignment__submission__public_id",
            "assignment__is_repeat",
            "assignment__group__slug",
            "scale__slug",
            "value",
        ]
        pages = groupby(read_rows(study, paths, include=include), key=itemgetter(0))
        found = next(pages, None)
        for row in submissions.load():
            values: dict[Any, Cell] = {}
            repeated = None
            # Both are in the order of the submissions; one without ratings has no page.
            if found and found[0] == row[places["submission"]]:
                for _submission, is_repeat, group, scale, value, kind in found[1]:
                    values[None if is_repeat else group, scale] = MISSING_WORDS.get(kind, value)
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


@dataclass(frozen=True)
class StudyTable:
    """A table of a study as pages name it.

    ``build`` takes the study and what to include besides what counts: pilot, preview, excluded.
    ``companions`` are in its ZIP too.
    """

    name: str
    title: Any
    content: Any
    build: Callable[[Study, Collection[str]], Table]
    companions: tuple[str, ...] = ()


RATING_TABLES = (
    StudyTable(
        "ratings",
        _("Ratings"),
        _("Tidy: one row for each rating, with what was rated, scale, value and decision."),
        lambda study, include: build_rating_table(study, include=include),
    ),
    StudyTable(
        "pages",
        _("Rating pages"),
        _("The same ratings with a row for each rating page and a column for each scale."),
        lambda study, include: build_page_table(study, include=include),
    ),
    StudyTable(
        "submissions",
        _("Submissions"),
        _(
            "One row for each participant, with times, checks, decisions and demographics. No "
            "identity."
        ),
        lambda study, include: build_submission_table(study, include=include),
    ),
    StudyTable(
        "participants",
        _("Participants, wide"),
        _(
            "The submissions with all their ratings beside them: one column for each pair of what "
            "was rated and scale."
        ),
        lambda study, include: build_participant_table(study, include=include),
    ),
    StudyTable(
        "answers",
        _("Answers"),
        _("Tidy: one row for each answer to the questions that the steps bring along."),
        lambda study, include: build_answer_table(study, include=include),
    ),
)
WRITING_TABLES = (
    StudyTable(
        "counterparts",
        _("Counterparts"),
        _(
            "Tidy: one row for each submitted counterpart, with its source text and the "
            "annotator’s number."
        ),
        lambda study, include: build_counterpart_table(study),
    ),
    StudyTable(
        "texts",
        _("Texts, wide"),
        _("One row for each text, with the counterparts of all annotators beside each other."),
        lambda study, include: build_written_text_table(study),
    ),
    StudyTable(
        "tasks",
        _("Tasks"),
        _("One row for each text in each queue, with its state and time."),
        lambda study, include: build_writing_task_table(study),
    ),
)
JUDGMENTS = StudyTable(
    "judgments",
    _("Judgments"),
    _(
        "Tidy: one row for each judgment, with pair, direction, producer, four ratings, comment "
        "and the judge’s number."
    ),
    lambda study, include: build_judgment_table(study),
)
ITEMS = StudyTable(
    "items",
    _("Counterparts, wide"),
    _("One row for each counterpart, with the ratings of all judges beside each other."),
    lambda study, include: build_item_table(study),
)
ERRORS = StudyTable(
    "errors",
    _("Errors"),
    _(
        "One row for each passage that a judge marked, with its kind, its place and its words. "
        "Judgments without a row found no error."
    ),
    lambda study, include: build_error_table(study),
)


def list_study_tables(study: Study) -> dict[str, StudyTable]:
    """Return a study's tables by name. One query at the utmost."""
    if study.kind == StudyKind.COUNTERPART_WRITING:
        found: tuple[StudyTable, ...] = WRITING_TABLES
    elif study.kind == StudyKind.COUNTERPART_JUDGMENT:
        found = (JUDGMENTS, ITEMS)
        if marks_errors(study):
            found = (replace(JUDGMENTS, companions=(ERRORS.name,)), ITEMS, ERRORS)
    else:
        found = RATING_TABLES
    return {table.name: table for table in found}
