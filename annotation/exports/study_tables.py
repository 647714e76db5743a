"""Which tables a study of each kind is exported as."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext_lazy as _

from annotation.common.tables import Table
from annotation.exports.counterparts import build_counterpart_table, build_writing_task_table
from annotation.exports.judgments import build_error_table, build_judgment_table, marks_errors
from annotation.exports.ratings import build_page_table, build_rating_table
from annotation.exports.step_answers import build_answer_table
from annotation.exports.submissions import build_submission_table
from annotation.exports.wide import (
    build_item_table,
    build_participant_table,
    build_written_text_table,
)
from annotation.models import Study, StudyKind


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
