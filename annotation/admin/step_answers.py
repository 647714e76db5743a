"""Answers to the questions and checks that a flow brings along, in the words of their pages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from annotation.models import Instrument, Submission
from annotation.survey.flow import Step, read_flow
from annotation.survey.step_content import ChoiceContent, FreeTextContent, OptionsContent
from annotation.survey.step_texts import text_in


@dataclass(frozen=True)
class AnswerRow:
    question: str
    answer: str


def describe_step_answers(submission: Submission) -> list[AnswerRow]:
    """Return questions and answers in the order of the flow. One query."""
    instrument = submission.instrument
    rows = []
    for answer in submission.step_answers.order_by("step_index"):
        step = _find_step(instrument, answer.step_index)
        values = answer.value if isinstance(answer.value, list) else [str(answer.value)]
        content = step.content if step else None
        question = (
            text_in(content.question, instrument.language)
            if isinstance(content, FreeTextContent | ChoiceContent)
            else answer.key
        )
        rows.append(
            AnswerRow(question, "; ".join(name_options(instrument, answer.step_index, values)))
        )
    return rows


def name_options(instrument: Instrument, step_index: int, values: Iterable[str]) -> list[str]:
    """Return the texts of answers to choose from, their names where the step knows none."""
    step = _find_step(instrument, step_index)
    content = step.content if step else None
    texts = (
        {option.value: text_in(option.text, instrument.language) for option in content.options}
        if isinstance(content, OptionsContent)
        else {}
    )
    return [f"“{texts[value]}”" if value in texts else str(value) for value in values]


def _find_step(instrument: Instrument, index: int) -> Step | None:
    steps, _problems = read_flow(instrument.flow)
    return next((step for step in steps if step.index == index), None)
