"""The judgments of a study and the errors marked in them as tables; judges are numbers alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.db.models import QuerySet

from annotation.common.tables import Cell, Column, ColumnType, Table
from annotation.exports.fields import Fields, coarsen
from annotation.judgments.error_coding import load_passages, write_passages
from annotation.judgments.questions import parse_wording, show_aspects
from annotation.models import CodedError, Judgment, JudgmentDesign, Study, TaskState

TEXT, NUMBER, INTEGER = ColumnType.TEXT, ColumnType.NUMBER, ColumnType.INTEGER
ON_SCALE = "1 to 5"

# Each column with the field of a judgment that fills it.
JUDGED_FIELDS: Fields = {
    "task__study__public_id": Column(
        "study", TEXT, "12 letters and digits", "public id of the study"
    ),
    "task__item": Column(
        "item", INTEGER, "number", "the counterpart: two rows of one are two judges"
    ),
    "task__item__pair__slug": Column("pair", TEXT, "slug", "name of the pair in its corpus"),
    "task__item__pair__source_text__source": Column(
        "source", TEXT, "text", "where the pair's text was drawn from"
    ),
    "task__item__text__slug": Column(
        "original", TEXT, "slug", "the text that the counterpart was judged beside"
    ),
    "task__item__text__variety": Column(
        "original_variety", TEXT, "text", "direction: from this variety"
    ),
    "task__item__variety": Column(
        "variety", TEXT, "text", "direction: into this one, that of the counterpart"
    ),
    "task__item__producer": Column(
        "producer", TEXT, "human, or name@revision", "who wrote the counterpart"
    ),
    "task__item__run": Column(
        "run", TEXT, "12 letters and digits; empty: human", "public id of the run"
    ),
    "task__annotator__number": Column(
        "annotator", INTEGER, "1 or more", "number of the judge in the study"
    ),
}
JUDGMENT_FIELDS: Fields = {
    **JUDGED_FIELDS,
    "human_likeness": Column(
        "human_likeness", INTEGER, ON_SCALE, "1 very likely a model, 5 a human"
    ),
    "linguistic_match": Column(
        "linguistic_match", INTEGER, ON_SCALE, "how like the variety, 5 completely"
    ),
    "meaning_preservation": Column(
        "meaning_preservation", INTEGER, ON_SCALE, "how accurate in meaning, 5 completely"
    ),
    "tone_preservation": Column(
        "tone_preservation", INTEGER, ON_SCALE, "how accurate in tone, 5 completely"
    ),
    "comment": Column("comment", TEXT, "text", "what the judge added"),
    "task__active_seconds": Column(
        "seconds", NUMBER, "0 or more; 0: not known", "with the page in front"
    ),
    "task__done_at": Column("judged_on", TEXT, "date, UTC", "day of the first judgment"),
}
ERRORS_COLUMN = Column(
    "errors",
    TEXT,
    "such as misread 5-12; invented 20-24",
    "marked errors: category, first character counted from 0, the character after the last one",
)
# What a coded error has besides; its words are cut out of the counterpart.
ERROR_COLUMNS = (
    Column("category", TEXT, "slug", "kind of error, as in the study's scheme"),
    Column("start", INTEGER, "0 or more", "first character of the passage, counted from 0"),
    Column("end", INTEGER, "1 or more", "the character after its last one"),
    Column("passage", TEXT, "text", "the words that are marked"),
)
#: The fields that `cut_passage` takes.
ERROR_PATHS = (
    *(f"judgment__{path}" for path in JUDGED_FIELDS),
    *("category", "start", "end", "judgment__task__item__body"),
)
CODED_COLUMNS = (*JUDGED_FIELDS.values(), *ERROR_COLUMNS)


def select_judgments(study: Study) -> QuerySet[Judgment]:
    """Return all judgments of a study, by counterpart and judge."""
    return Judgment.objects.filter(task__study=study, task__state=TaskState.DONE).order_by(
        "task__item", "task__annotator__number"
    )


def judgment_fields(study: Study) -> Fields:
    """Return `JUDGMENT_FIELDS` with the answers of the study's own wording as labels. One query."""
    design = JudgmentDesign.objects.select_related("corpus").filter(study=study).first()
    if design is None:
        return JUDGMENT_FIELDS
    aspects = show_aspects(parse_wording(design.wording), design.corpus.target_variety)
    labels = {aspect.name: aspect.answers for aspect in aspects}
    return {
        path: replace(column, labels=labels.get(column.name, ()))
        for path, column in JUDGMENT_FIELDS.items()
    }


def build_judgment_table(study: Study) -> Table:
    """Return one row for each judgment, with its errors where the study has a scheme of them.

    Two queries, and one or two each time that it is read.
    """
    fields, is_coded = judgment_fields(study), marks_errors(study)

    def load() -> Iterator[Sequence[Cell]]:
        passages = load_passages(study) if is_coded else {}
        rows = select_judgments(study).values_list("pk", *fields)
        for pk, *row in rows.iterator(chunk_size=500):
            yield [
                *map(coarsen, row),
                *([write_passages(passages.get(pk, ()))] if is_coded else []),
            ]

    columns = (*fields.values(), *([ERRORS_COLUMN] if is_coded else []))
    return Table("judgments", columns, load)


def marks_errors(study: Study) -> bool:
    """Return whether judges mark errors. One query."""
    return JudgmentDesign.objects.filter(study=study).exclude(error_scheme=[]).exists()


def select_errors(study: Study) -> QuerySet[CodedError]:
    """Return the passages that judges marked, by counterpart, judge and place."""
    return CodedError.objects.filter(
        judgment__task__study=study, judgment__task__state=TaskState.DONE
    ).order_by("judgment__task__item", "judgment__task__annotator__number", "start", "category")


def cut_passage(row: Sequence[Any]) -> list[Cell]:
    """Return a row of `CODED_COLUMNS`: the text of a passage in place of the whole counterpart."""
    *cells, start, end, body = row
    return [*cells, start, end, body[start:end]]


def build_error_table(study: Study) -> Table:
    """Return one row for each marked passage. One query each time that it is read."""

    def load() -> Iterator[Sequence[Cell]]:
        return map(
            cut_passage, select_errors(study).values_list(*ERROR_PATHS).iterator(chunk_size=500)
        )

    return Table("errors", CODED_COLUMNS, load)
