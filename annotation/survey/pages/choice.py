"""A question with one or several of its answers to choose."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.instruments.flow import Step
from annotation.instruments.step_content import ChoiceContent
from annotation.survey.pages.filled_form import FilledForm
from annotation.survey.pages.options import FIELD, OptionsPage, read_choice, read_choices
from annotation.survey.pages.questions import content_of, keep_answer
from annotation.survey.visits.errors import AnswersRefused
from annotation.survey.visits.visit import Visit


class ChoicePage(OptionsPage):
    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        shown = super().show(visit, step, filled)
        return {**shown, "several": content_of(step, ChoiceContent).several}

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        content = content_of(step, ChoiceContent)
        chosen = read_choices(step, sent)
        if not chosen and content.required:
            raise AnswersRefused(
                {FIELD: _("Choose at least one answer.") if content.several else _("Choose one.")}
            )
        if chosen:
            keep_answer(visit, step, chosen if content.several else read_choice(step, sent))
