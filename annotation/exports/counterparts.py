"""The counterparts of a writing study and its tasks as tables; annotators are numbers alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.models import QuerySet

from annotation.common.tables import Cell, Column, ColumnType, Table, choice_column
from annotation.exports.fields import Fields, coarsen
from annotation.models import Overlap, Study, TaskState, WritingTask

TEXT, NUMBER, INTEGER = ColumnType.TEXT, ColumnType.NUMBER, ColumnType.INTEGER
BOOLEAN = ColumnType.BOOLEAN

# Each column of the export with the field of a task that fills it.
COUNTERPART_FIELDS: Fields = {
    "study__public_id": Column("study", TEXT, "12 letters and digits", "public id of the study"),
    "text__slug": Column("text", TEXT, "slug", "name of the text in its corpus"),
    "text__source": Column("source", TEXT, "text", "where the text was drawn from"),
    "text__variety": Column("source_variety", TEXT, "text", "variety of the text"),
    "text__body": Column("source_body", TEXT, "text", "the text itself"),
    "annotator__number": Column(
        "annotator", INTEGER, "1 or more", "number of the annotator in the study"
    ),
    "overlap": choice_column("overlap", Overlap, "who else has the text"),
    "counterpart__variety": Column("variety", TEXT, "text", "variety of the counterpart"),
    "counterpart__body": Column(
        "counterpart", TEXT, "text", "what was written; empty: not interpretable"
    ),
    "counterpart__not_interpretable": Column(
        "not_interpretable", BOOLEAN, "true or false", "the text has no counterpart"
    ),
    "counterpart__reason": Column("reason", TEXT, "text", "why it has none"),
    "active_seconds": Column("seconds", NUMBER, "0 or more", "with the page in front"),
    "done_at": Column("submitted_on", TEXT, "date, UTC", "day of the first submit"),
}
TASK_FIELDS: Fields = {
    **{
        path: COUNTERPART_FIELDS[path]
        for path in (
            "study__public_id",
            "text__slug",
            "text__source",
            "annotator__number",
            "overlap",
        )
    },
    "position": Column("position", INTEGER, "1 or more", "place in the annotator's queue"),
    "state": choice_column("state", TaskState, "where the task stands"),
    "counterpart__not_interpretable": Column(
        "not_interpretable", BOOLEAN, "empty: not done", "the text has no counterpart"
    ),
    "active_seconds": Column("seconds", NUMBER, "0 or more", "with the page in front"),
}


def select_counterparts(study: Study) -> QuerySet[WritingTask]:
    """Return the tasks that are done, by text and annotator."""
    done = WritingTask.objects.filter(study=study, state=TaskState.DONE)
    return done.order_by("text__slug", "annotator__number")


def select_tasks(study: Study) -> QuerySet[WritingTask]:
    """Return all tasks, also those that were given to somebody else."""
    return WritingTask.objects.filter(study=study).order_by("annotator__number", "position")


def build_counterpart_table(study: Study) -> Table:
    """Return one row for each submitted counterpart. One query."""
    return _build("counterparts", COUNTERPART_FIELDS, select_counterparts(study))


def build_writing_task_table(study: Study) -> Table:
    """Return one row for each task. One query."""
    return _build("writing-tasks", TASK_FIELDS, select_tasks(study))


def _build(name: str, fields: Fields, tasks: QuerySet[WritingTask]) -> Table:
    def load() -> Iterator[Sequence[Cell]]:
        for row in tasks.values_list(*fields).iterator():
            yield [coarsen(cell) for cell in row]

    return Table(name, list(fields.values()), load)
