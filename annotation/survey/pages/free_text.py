"""A question that is answered with a text."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.instruments.flow import Step
from annotation.instruments.step_content import FreeTextContent
from annotation.survey.pages.filled_form import FilledForm
from annotation.survey.pages.questions import QuestionPage, content_of, keep_answer
from annotation.survey.visits.errors import AnswersRefused
from annotation.survey.visits.form_values import read_paragraphs, read_text
from annotation.survey.visits.visit import Visit

FIELD = "text"


class FreeTextPage(QuestionPage):
    template = "survey/free_text.html"

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        content = content_of(step, FreeTextContent)
        return {
            **super().show(visit, step, filled),
            "field": FIELD,
            "is_long": content.long,
            "max_characters": content.max_characters,
            # Longer than allowed is shown in full: nobody's text is cut without a word.
            "value": filled.text(FIELD),
            "problem": filled.problem(FIELD),
        }

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        content = content_of(step, FreeTextContent)
        text = read_paragraphs(sent, FIELD) if content.long else read_text(sent, FIELD)
        if not text and content.required:
            raise AnswersRefused({FIELD: _("Write an answer. A few words are enough.")})
        if len(text) > content.max_characters:
            raise AnswersRefused(
                {
                    FIELD: _("The answer has %(n)s characters, expected at most %(max)s.")
                    % {"n": len(text), "max": content.max_characters}
                }
            )
        if text:
            keep_answer(visit, step, text)
