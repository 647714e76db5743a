"""The counterparts of a writing study and its tasks as tables; annotators are numbers alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from annotation.common.tables import Cell, Column, ColumnType, Table, choice_column
from annotation.models import Overlap, Study, TaskState, WritingTask

TEXT, NUMBER, INTEGER = ColumnType.TEXT, ColumnType.NUMBER, ColumnType.INTEGER
BOOLEAN = ColumnType.BOOLEAN

# Each column of the export with the field of a task that fills it.
COUNTERPART_FIELDS: tuple[tuple[Column, str], ...] = (
    (Column("study", TEXT, "12 letters and digits", "public id of the study"), "study__public_id"),
    (Column("text", TEXT, "slug", "name of the text in its corpus"), "text__slug"),
    (Column("source", TEXT, "text", "where the text was drawn from"), "text__source"),
    (Column("source_variety", TEXT, "text", "variety of the text"), "text__variety"),
    (Column("source_body", TEXT, "text", "the text itself"), "text__body"),
    (
        Column("annotator", INTEGER, "1 or more", "number of the annotator in the study"),
        "annotator__number",
    ),
    (choice_column("overlap", Overlap, "who else has the text"), "overlap"),
    (Column("variety", TEXT, "text", "variety of the counterpart"), "counterpart__variety"),
    (
        Column("counterpart", TEXT, "text", "what was written; empty: not interpretable"),
        "counterpart__body",
    ),
    (
        Column("not_interpretable", BOOLEAN, "true or false", "the text has no counterpart"),
        "counterpart__not_interpretable",
    ),
    (Column("reason", TEXT, "text", "why it has none"), "counterpart__reason"),
    (Column("seconds", NUMBER, "0 or more", "with the page in front"), "active_seconds"),
    (Column("submitted_on", TEXT, "date, UTC", "day of the first submit"), "done_at"),
)
TASK_FIELDS: tuple[tuple[Column, str], ...] = (
    *COUNTERPART_FIELDS[:3],
    COUNTERPART_FIELDS[5],
    COUNTERPART_FIELDS[6],
    (Column("position", INTEGER, "1 or more", "place in the annotator's queue"), "position"),
    (choice_column("state", TaskState, "where the task stands"), "state"),
    (
        Column("not_interpretable", BOOLEAN, "empty: not done", "the text has no counterpart"),
        "counterpart__not_interpretable",
    ),
    (Column("seconds", NUMBER, "0 or more", "with the page in front"), "active_seconds"),
)


def select_counterparts(study: Study) -> QuerySet[WritingTask]:
    """Return the tasks that are done, by text and annotator."""
    done = WritingTask.objects.filter(study=study, state=TaskState.DONE)
    return done.order_by("text__slug", "annotator__number")


def select_tasks(study: Study) -> QuerySet[WritingTask]:
    """Return all tasks, also those that were given to somebody else."""
    return WritingTask.objects.filter(study=study).order_by("annotator__number", "position")


def build_counterpart_table(study: Study) -> Table:
    """Return one row for each submitted counterpart. One query."""
    return _build("counterparts", COUNTERPART_FIELDS, lambda: select_counterparts(study))


def build_writing_task_table(study: Study) -> Table:
    """Return one row for each task. One query."""
    return _build("writing-tasks", TASK_FIELDS, lambda: select_tasks(study))


def _build(
    name: str,
    fields: Sequence[tuple[Column, str]],
    select: Callable[[], QuerySet[WritingTask]],
) -> Table:
    def load() -> Iterator[Sequence[Cell]]:
        for row in select().values_list(*(field for _column, field in fields)).iterator():
            yield [coarsen(cell) for cell in row]

    return Table(name, [column for column, _field in fields], load)


def coarsen(cell: Any) -> Cell:
    """Return a time as its day: the hour of work says more about a person than a result needs."""
    return f"{cell:%Y-%m-%d}" if isinstance(cell, datetime) else cell
