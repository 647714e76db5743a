"""What pages share that ask one question of the study's author: its heading, help and order."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, TypeVar

from annotation.common.seeded import shuffle
from annotation.instruments.flow import Step
from annotation.instruments.step_content import Option, QuestionContent, StepContent
from annotation.models import StepAnswer
from annotation.survey.pages.filled_form import FilledForm
from annotation.survey.pages.page import Page
from annotation.survey.visits.visit import Visit

Content = TypeVar("Content", bound=StepContent)


class QuestionPage(Page):
    """Shows the heading and the help of a question; each kind adds its controls."""

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        content = content_of(step, QuestionContent)
        return {
            "heading": visit.read(content.question),
            "help": visit.read(content.help),
            "media": visit.find_media(content.media),
            "is_optional": not getattr(content, "required", True),
        }

    def is_shared(self, step: Step) -> bool:
        return not getattr(step.content, "random_order", False)


def content_of(step: Step, kind: type[Content]) -> Content:
    """Return the content of a step. Raises `TypeError` for one of another kind."""
    if not isinstance(step.content, kind):
        raise TypeError(f"Step {step.index} is no {kind.__name__}.")
    return step.content


def put_in_order(visit: Visit, step: Step, options: Sequence[Option]) -> list[Option]:
    """Return what stands in a list as this participant sees it: the visit's seed fixes it."""
    if not getattr(step.content, "random_order", False):
        return list(options)
    purpose = f"order of {step.key}"
    return shuffle(options, name=attrgetter("value"), seed=visit.submission.seed, purpose=purpose)


def keep_answer(visit: Visit, step: Step, value: Any) -> None:
    """Store the answer to a step under its name in the data."""
    StepAnswer.objects.create(
        submission=visit.submission, step_index=step.index, key=step.key, value=value
    )
