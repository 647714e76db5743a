"""The answers to questions that a flow brings along: as columns of the submissions' table, wide,
and as a table of their own, tidy."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from annotation.common.tables import Cell, Column, ColumnType, Table, choice_column
from annotation.instruments.flow import Step, read_flow
from annotation.models import (
    DataDecision,
    Origin,
    StepAnswer,
    Study,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.models.submission import exported
from annotation.steps.kind import name_kinds
from annotation.steps.question import Question, read_answer, write_number
from annotation.steps.texts import text_in

TEXT, NUMBER, INTEGER = ColumnType.TEXT, ColumnType.NUMBER, ColumnType.INTEGER

#: A step's key, and the row or item of it, "" for a question with one answer.
Part = tuple[str, str]


def build_answer_table(study: Study, *, include: Collection[str] = ()) -> Table:
    """Return a row for each answer: of a matrix for each statement, of a ranking for each item, and
    for each answer chosen of several. Two queries each time that it is read."""

    def load() -> Iterator[Sequence[Cell]]:
        steps: dict[int, tuple[int, str, dict[int, Step]]] = {
            pk: (version, language, {step.index: step for step in read_flow(flow)[0]})
            for pk, version, language, flow in study.instruments.values_list(
                "pk", "version", "language", "flow"
            )
        }
        answers = (
            StepAnswer.objects.filter(exported(include, of="submission__"), submission__study=study)
            .select_related("submission")
            .order_by("submission__pk", "step_index")
        )
        for answer in answers.iterator(chunk_size=500):
            submission = answer.submission
            version, language, known = steps[submission.instrument_id]
            begin = (
                study.public_id,
                study.origin,
                submission.public_id,
                submission.state,
                submission.origin,
                submission.data_decision,
                submission.arm or None,
            )
            step = known.get(answer.step_index)
            for cells in _write_lines(answer, step, language):
                yield [*begin, *cells, answer.step_index + 1, version]

    return Table("answers", _list_columns(), load)


def _list_columns() -> tuple[Column, ...]:
    kinds = ", ".join(sorted(name_kinds(lambda kind: kind.is_question)))
    return (
        Column("study", TEXT, "12 letters and digits", "public id of the study"),
        choice_column("origin", Origin, "where the study's data come from"),
        Column("submission", TEXT, "12 letters and digits", "one participant's pass, no identity"),
        choice_column("submission_state", SubmissionState, "at this export"),
        choice_column(
            "submission_origin", SubmissionOrigin, "live, or from a pilot or preview of the study"
        ),
        choice_column("data_decision", DataDecision, "whether the data count"),
        Column("arm", TEXT, "name; empty: no arms", "arm of the instrument that it is in"),
        Column("question", TEXT, "name", "the question's name in the data"),
        Column("kind", TEXT, kinds, "of question"),
        Column("question_text", TEXT, "text", "the question in the instrument's own language"),
        Column("part", TEXT, "name", "statement of a matrix, item of a ranking; empty elsewhere"),
        Column("part_text", TEXT, "text", "its text; empty elsewhere"),
        Column("answer", TEXT, "name, text or number", "one answer as it is stored"),
        Column("answer_text", TEXT, "text", "its text in the instrument's own language"),
        Column("number", NUMBER, "number; empty elsewhere", "number or place that was given"),
        Column("step", INTEGER, "1 or more", "the step's place in the flow"),
        Column("instrument_version", INTEGER, "1 or more", "version that the participant saw"),
    )


def _write_lines(answer: StepAnswer, step: Step | None, language: str) -> Iterator[list[Cell]]:
    content = step.content if step else None
    asked = text_in(content.question, language) if isinstance(content, Question) else ""
    kind = step.kind if step else ""
    for line in read_answer(content, answer.value, partial(text_in, language=language)):
        values = line.value if isinstance(line.value, list) else [line.value]
        for value, words in zip(values, line.words, strict=True):
            number = value if isinstance(value, int | float) else None
            text = str(value) if number is None else write_number(number)
            yield [
                *(answer.key, kind, asked),
                *(line.part or None, line.label or None),
                *(text, words, number),
            ]


def describe_steps(study: Study) -> dict[Part, Column]:
    """Return the columns of the questions over all versions, as the newest one describes each.

    One query.
    """
    columns: dict[Part, Column] = {}
    for flow, language in study.instruments.order_by("-version").values_list("flow", "language"):
        steps, _problems = read_flow(flow)  # a draft may not be finished
        for step in steps:
            if step.key and isinstance(step.content, Question) and step.content.is_question:
                say = partial(text_in, language=language)
                for part, column in step.content.columns(f"step_{step.key}", say):
                    known = columns.setdefault((step.key, part), column)
                    if known.type != column.type:  # another version asked for something else
                        columns[step.key, part] = replace(known, type=TEXT, labels=())
    return columns


def write_step_answers(submission: Submission, columns: Mapping[Part, Column]) -> list[Cell]:
    """Return a submission's cells for the columns of `describe_steps`."""
    answers = {answer.key: answer.value for answer in submission.step_answers.all()}
    return [
        _write(_find_part(answers.get(key), part), column.type)
        for (key, part), column in columns.items()
    ]


def _find_part(value: Any, part: str) -> Any:
    if isinstance(value, dict):
        return value.get(part) if part else None
    return None if part else value


def _write(value: Any, kind: ColumnType) -> Cell:
    if isinstance(value, list):
        return "; ".join(str(item) for item in value)
    if value is None or (kind is not TEXT and isinstance(value, int | float)):
        return value
    return write_number(value) if isinstance(value, int | float) else str(value)
