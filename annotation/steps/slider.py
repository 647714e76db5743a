"""A question that is answered by a place on a line, which begins without an answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from django.http import QueryDict
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field, model_validator

from annotation.common.tables import Column, ColumnType
from annotation.steps.forms import AnswersRefused, FilledForm, read_whole_number, refuse_unknown
from annotation.steps.kind import Asked, Edit, Menu, Say, step
from annotation.steps.lines import TOUCHED, VALUE, read_touched, say_open, show_lines
from annotation.steps.question import (
    EMPTY,
    MOST_NUMBER,
    AnswerLine,
    Question,
    Required,
    Unit,
    tell_number,
    write_unit,
)
from annotation.steps.texts import Texts

MOST_PLACES = 1_000
KEY = "answer"


@dataclass(frozen=True)
class SliderLine:
    """The line as its template draws it."""

    left: str
    right: str
    key: str = KEY


@step(
    "slider",
    gettext_lazy("Question with a line between two words"),
    about=gettext_lazy("A question of yours, answered by a place on a line."),
    menu=Menu.QUESTIONS,
    rank=3,
    template="survey/slider.html",
    new={
        "question": {"en": "How sure are you of your answers?"},
        "low": {"en": "not at all sure"},
        "high": {"en": "entirely sure"},
        "minimum": 0,
        "maximum": 100,
        "step": 1,
        "required": True,
    },
)
class Slider(Question):
    """A line between two words, from ``minimum`` to ``maximum`` in steps of ``step``."""

    is_number: ClassVar[bool] = True

    low: Annotated[Texts, Edit(gettext_lazy("Words at the low end"))]
    high: Annotated[Texts, Edit(gettext_lazy("Words at the high end"))]
    minimum: Annotated[
        int, Field(ge=-MOST_NUMBER, le=MOST_NUMBER), Edit(gettext_lazy("Lowest number"))
    ] = 0
    maximum: Annotated[
        int, Field(ge=-MOST_NUMBER, le=MOST_NUMBER), Edit(gettext_lazy("Highest number"))
    ] = 100
    step: Annotated[
        int,
        Field(ge=1, le=MOST_NUMBER),
        Edit(gettext_lazy("From one place to the next"), more={"low": 1}),
    ] = 1
    unit: Unit = None
    required: Required = True

    @model_validator(mode="after")
    def _has_places(self) -> Slider:
        places, rest = divmod(self.maximum - self.minimum, self.step)
        if rest or not 1 <= places <= MOST_PLACES:
            raise ValueError(
                f"The line goes from {self.minimum} to {self.maximum} by {self.step}, expected 1 "
                f"to {MOST_PLACES} whole steps."
            )
        return self

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        return {
            **super().show(asked, filled),
            **show_lines([self._line(asked)], FilledForm(problems=filled.problems)),
            "minimum": self.minimum,
            "maximum": self.maximum,
            "low": asked.read(self.low),
            "high": asked.read(self.high),
        }

    def own(self, asked: Asked, filled: FilledForm) -> dict[str, SafeString]:
        problem = filled.problem(KEY)
        context = {
            "line": self._line(asked),
            "value": _kept_value(filled),
            "problem": problem,
            "is_first_problem": bool(problem),
            "minimum": self.minimum,
            "maximum": self.maximum,
            "by": self.step,
            "tells_value": True,
            "unit": asked.read(self.unit),
        }
        return {"drawn_lines": render_to_string("survey/parts/line.html", context)}

    def read_answer(self, sent: QueryDict) -> int | None:
        refuse_unknown(sent, prefixes=(VALUE, TOUCHED), known={VALUE + KEY, TOUCHED + KEY})
        if text := read_touched(sent, KEY):
            return self._read_place(text)
        if self.required:
            raise AnswersRefused({KEY: say_open()})
        return None

    def tell(self, value: Any, say: Say) -> Iterable[AnswerLine]:
        return tell_number(value, self.unit, say)

    def columns(self, name: str, say: Say) -> Iterator[tuple[str, Column]]:
        values = f"{self.minimum} to {self.maximum}{write_unit(self.unit, say)}; {EMPTY}"
        meaning = f"{say(self.question)} ({say(self.low)} to {say(self.high)})"
        yield "", Column(name, ColumnType.INTEGER, values, meaning)

    def _line(self, asked: Asked) -> SliderLine:
        return SliderLine(asked.read(self.low), asked.read(self.high))

    def _read_place(self, text: str) -> int:
        number, low, high = read_whole_number(text), self.minimum, self.maximum
        if number is not None and low <= number <= high and (number - low) % self.step == 0:
            return number
        problem = (
            _("“%(value)s” is not possible. Write a whole number from %(low)s to %(high)s.")
            if self.step == 1
            else _(
                "“%(value)s” is not possible. Write a number from %(low)s to %(high)s in steps "
                "of %(step)s."
            )
        )
        values = {"value": text[:20], "low": low, "high": high, "step": self.step}
        raise AnswersRefused({KEY: problem % values})


def _kept_value(filled: FilledForm) -> str:
    if filled.text(TOUCHED + KEY) != "1":
        return ""
    number = read_whole_number(filled.text(VALUE + KEY).strip())
    return "" if number is None else str(number)
