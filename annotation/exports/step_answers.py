"""The answers to questions that a flow brings along, as columns of the submissions' table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from annotation.common.tables import Cell, Column, ColumnType
from annotation.instruments.flow import read_flow
from annotation.instruments.step_content import ChoiceContent, FreeTextContent
from annotation.instruments.step_texts import text_in
from annotation.models import Study, Submission


def describe_steps(study: Study) -> dict[str, Column]:
    """Return one column per key over all versions, as the newest one describes it. One query."""
    columns: dict[str, Column] = {}
    for flow, language in study.instruments.order_by("-version").values_list("flow", "language"):
        steps, _problems = read_flow(flow)  # a draft may not be finished
        for step in steps:
            if step.key and isinstance(step.content, ChoiceContent | FreeTextContent):
                columns.setdefault(step.key, _describe(step.key, step.content, language))
    return columns


def write_step_answers(submission: Submission, keys: Iterable[str]) -> list[Cell]:
    """Return a submission's cells for the columns of ``keys``."""
    answers = {answer.key: answer.value for answer in submission.step_answers.all()}
    return [_write(answers.get(key)) for key in keys]


def _write(value: Any) -> Cell:
    if isinstance(value, list):
        return "; ".join(str(item) for item in value)
    return None if value is None else str(value)


def _describe(key: str, content: ChoiceContent | FreeTextContent, language: str) -> Column:
    values = (
        f"text of at most {content.max_characters} characters"
        if isinstance(content, FreeTextContent)
        else "; ".join(
            f"{option.value}: {text_in(option.text, language)}" for option in content.options
        )
    )
    meaning = text_in(content.question, language)
    if isinstance(content, ChoiceContent) and content.several:
        meaning += " (any number of answers)"
    labels = (
        tuple((option.value, text_in(option.text, language)) for option in content.options)
        if isinstance(content, ChoiceContent) and not content.several
        else ()
    )
    return Column(f"step_{key}", ColumnType.TEXT, f"{values}; empty: not answered", meaning, labels)
