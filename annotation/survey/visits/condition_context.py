"""What is known of a visit when a step's condition is judged: read from the database each time."""

from __future__ import annotations

from typing import Any

from annotation.instruments.conditions import CHECK_RESULTS, Known, holds
from annotation.instruments.flow import Step
from annotation.models import CheckResponse, DemographicAnswer, StepAnswer
from annotation.survey.visits.visit import Visit


def is_asked(visit: Visit, step: Step) -> bool:
    """Return whether the condition of a step holds. Three queries for a step that has one."""
    return step.show_if is None or holds(step.show_if, load_known(visit))


def load_known(visit: Visit) -> Known:
    """Return everything that conditions can compare with. Three queries."""
    submission = visit.submission
    keys = {step.index: step.key for step in visit.steps if step.key}
    steps = {
        answer.key: frozenset(_list_values(answer.value))
        for answer in StepAnswer.objects.filter(submission=submission)
    }
    for index, passed in CheckResponse.objects.filter(submission=submission).values_list(
        "step_index", "passed"
    ):
        if index in keys:
            steps[keys[index]] = frozenset({CHECK_RESULTS[passed]})
    questions = {
        slug: frozenset(_list_values(value))
        for slug, value in DemographicAnswer.objects.filter(
            submission=submission, declined=False
        ).values_list("question__slug", "value")
    }
    return Known(steps=steps, questions=questions, language=submission.language, arm=submission.arm)


def _list_values(value: Any) -> list[Any]:
    values = value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, str | int | float)]
