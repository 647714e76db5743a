"""A question that is answered by a place on a line, which begins without an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from annotation.instruments.flow import Step
from annotation.instruments.step_content import SliderContent
from annotation.survey.pages.filled_form import FilledForm
from annotation.survey.pages.questions import QuestionPage, content_of, keep_answer
from annotation.survey.pages.rating import NOT_ANSWERED, TOUCHED, VALUE, read_touched, show_lines
from annotation.survey.visits.errors import AnswersRefused
from annotation.survey.visits.form_values import read_whole_number, refuse_unknown
from annotation.survey.visits.visit import Visit

KEY = "answer"


@dataclass(frozen=True)
class SliderLine:
    """The line as its template draws it."""

    left: str
    right: str
    key: str = KEY


class SliderPage(QuestionPage):
    template = "survey/slider.html"

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        content = content_of(step, SliderContent)
        return {
            **super().show(visit, step, filled),
            **show_lines([_line(visit, content)], FilledForm(problems=filled.problems)),
            "minimum": content.minimum,
            "maximum": content.maximum,
            "low": visit.read(content.low),
            "high": visit.read(content.high),
        }

    def own(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, SafeString]:
        content, problem = content_of(step, SliderContent), filled.problem(KEY)
        context = {
            "line": _line(visit, content),
            "value": _kept_value(filled),
            "problem": problem,
            "is_first_problem": bool(problem),
            "minimum": content.minimum,
            "maximum": content.maximum,
            "by": content.step,
            "tells_value": True,
            "unit": visit.read(content.unit),
        }
        return {"drawn_lines": render_to_string("survey/parts/line.html", context)}

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        content = content_of(step, SliderContent)
        refuse_unknown(sent, prefixes=(VALUE, TOUCHED), known={VALUE + KEY, TOUCHED + KEY})
        if text := read_touched(sent, KEY):
            keep_answer(visit, step, _read_place(content, text))
        elif content.required:
            raise AnswersRefused({KEY: str(NOT_ANSWERED)})


def _line(visit: Visit, content: SliderContent) -> SliderLine:
    return SliderLine(visit.read(content.low), visit.read(content.high))


def _kept_value(filled: FilledForm) -> str:
    if filled.text(TOUCHED + KEY) != "1":
        return ""
    number = read_whole_number(filled.text(VALUE + KEY).strip())
    return "" if number is None else str(number)


def _read_place(content: SliderContent, text: str) -> int:
    number, low, high = read_whole_number(text), content.minimum, content.maximum
    if number is not None and low <= number <= high and (number - low) % content.step == 0:
        return number
    problem = (
        _("“%(value)s” was sent, expected a whole number from %(low)s to %(high)s.")
        if content.step == 1
        else _("“%(value)s” was sent, expected a number from %(low)s to %(high)s by %(step)s.")
    )
    values = {"value": text[:20], "low": low, "high": high, "step": content.step}
    raise AnswersRefused({KEY: problem % values})
