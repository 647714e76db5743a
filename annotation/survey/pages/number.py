"""A question that is answered with a number."""

from __future__ import annotations

import re
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.instruments.answer_words import write_number
from annotation.instruments.flow import Step
from annotation.instruments.step_content import NumberContent
from annotation.survey.pages.filled_form import FilledForm
from annotation.survey.pages.questions import QuestionPage, content_of, keep_answer
from annotation.survey.visits.errors import AnswersRefused
from annotation.survey.visits.form_values import read_single
from annotation.survey.visits.visit import Visit

FIELD = "number"
MOST_CHARACTERS = 20
# “1,000” is a thousand to some and one to others: three digits after a comma are never guessed.
DECIMAL = re.compile(r"[-−]?[0-9]{1,10}(\.[0-9]{1,6}|,(?![0-9]{3}$)[0-9]{1,6})?")


class NumberPage(QuestionPage):
    template = "survey/number.html"

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        content = content_of(step, NumberContent)
        return {
            **super().show(visit, step, filled),
            "field": FIELD,
            "unit": visit.read(content.unit),
            "limits": _describe_limits(content),
            "integer": content.integer,
            "max_characters": MOST_CHARACTERS,
            "value": filled.text(FIELD)[:MOST_CHARACTERS],
            "problem": filled.problem(FIELD),
        }

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        content, text = content_of(step, NumberContent), read_single(sent, FIELD)
        if text:
            keep_answer(visit, step, read_number(content, text))
        elif content.required:
            raise AnswersRefused({FIELD: _("Enter a number.")})


def read_number(content: NumberContent, text: str) -> int | float:
    """Return the number that a participant wrote. Raises `AnswersRefused` with the remedy."""
    found = DECIMAL.fullmatch(text)
    number = float(text.replace("−", "-").replace(",", ".")) if found else None
    if number is None or (content.integer and not number.is_integer()):
        remedy = (
            _("Enter a whole number in digits, such as 1500.")
            if content.integer
            else _("Enter a number in digits, such as 1500 or 2.5.")
        )
        raise AnswersRefused({FIELD: remedy})
    low, high = content.minimum, content.maximum
    if (low is not None and number < low) or (high is not None and number > high):
        raise AnswersRefused({FIELD: _describe_limits(content)})
    return int(number) if number.is_integer() else number


def _describe_limits(content: NumberContent) -> str:
    """Return what to enter, "" where every number is possible."""
    low, high = content.minimum, content.maximum
    values = {
        "low": "" if low is None else write_number(low),
        "high": "" if high is None else write_number(high),
    }
    if low is not None and high is not None:
        return _("Enter a number from %(low)s to %(high)s.") % values
    if low is not None:
        return _("Enter %(low)s or more.") % values
    return _("Enter %(high)s or less.") % values if high is not None else ""
