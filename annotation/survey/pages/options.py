"""What pages share that ask one question with answers to choose from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.instruments.flow import Step
from annotation.instruments.step_content import OptionsContent
from annotation.survey.pages.filled_form import FilledForm
from annotation.survey.pages.questions import QuestionPage, content_of, put_in_order
from annotation.survey.visits.errors import AnswersRefused
from annotation.survey.visits.form_values import not_offered, sent_twice
from annotation.survey.visits.visit import Visit

FIELD = "choice"


@dataclass(frozen=True)
class ShownOption:
    value: str
    text: str
    chosen: bool


class OptionsPage(QuestionPage):
    """Shows one question, with one answer unless a page says otherwise."""

    template = "survey/choice.html"

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        content = content_of(step, OptionsContent)
        chosen = filled.sent.getlist(FIELD)
        return {
            **super().show(visit, step, filled),
            "field": FIELD,
            "options": [
                ShownOption(option.value, visit.read(option.text), option.value in chosen)
                for option in put_in_order(visit, step, content.options)
            ],
            "several": False,
            "problem": filled.problem(FIELD),
        }


def read_choices(step: Step, sent: QueryDict) -> list[str]:
    """Return the names of the chosen answers in the order of the page; may be empty.

    Raises `PageRefused` for an answer that the page does not offer or that was sent twice.
    """
    offered = content_of(step, OptionsContent).values
    chosen = sent.getlist(FIELD)
    if len(set(chosen)) != len(chosen):
        raise sent_twice(FIELD)
    for value in chosen:
        if value not in offered:
            raise not_offered(value)
    return [value for value in offered if value in chosen]


def read_choice(step: Step, sent: QueryDict) -> str:
    """Return the one chosen answer. Raises `AnswersRefused` for none, `PageRefused` for more."""
    chosen = read_choices(step, sent)
    if not chosen:
        raise AnswersRefused({FIELD: _("Choose an answer.")})
    if len(chosen) > 1:
        raise sent_twice(FIELD)
    return chosen[0]
