"""A question with one or several of its answers to choose."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.instruments.flow import Step
from annotation.instruments.step_content import ChoiceContent
from annotation.models import Outcome, StepAnswer
from annotation.survey.pages.options import FIELD, OptionsPage, read_choice, read_choices
from annotation.survey.visits.client_record import ClientRecord
from annotation.survey.visits.errors import AnswersRefused
from annotation.survey.visits.visit import Visit


class ChoicePage(OptionsPage):
    def show(
        self, visit: Visit, step: Step, *, sent: QueryDict | None, problems: dict[str, str]
    ) -> dict[str, Any]:
        content = _content(step)
        return {
            **super().show(visit, step, sent=sent, problems=problems),
            "several": content.several,
            "is_optional": not content.required,
        }

    def store(
        self, visit: Visit, step: Step, *, sent: QueryDict, client: ClientRecord
    ) -> Outcome | None:
        content = _content(step)
        chosen = read_choices(step, sent)
        if not chosen and content.required:
            raise AnswersRefused(
                {FIELD: _("Choose at least one answer.") if content.several else _("Choose one.")}
            )
        if chosen:
            StepAnswer.objects.create(
                submission=visit.submission,
                step_index=step.index,
                key=step.key,
                value=chosen if content.several else read_choice(step, sent),
            )
        return None


def _content(step: Step) -> ChoiceContent:
    if not isinstance(step.content, ChoiceContent):
        raise TypeError(f"Step {step.index} has no answers to choose from.")
    return step.content
