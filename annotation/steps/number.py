"""A question that is answered with a number."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Annotated, Any, ClassVar

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field, model_validator

from annotation.common.tables import Column, ColumnType
from annotation.steps.forms import AnswersRefused, FilledForm, read_single
from annotation.steps.kind import Asked, Edit, Menu, Say, step
from annotation.steps.question import (
    EMPTY,
    MOST_NUMBER,
    AnswerLine,
    Question,
    Required,
    Unit,
    tell_number,
    write_number,
    write_unit,
)

FIELD = "number"
MOST_CHARACTERS = 20
# “1,000” is a thousand to some and one to others: three digits after a comma are never guessed.
DECIMAL = re.compile(r"[-−]?[0-9]{1,10}(\.[0-9]{1,6}|,(?![0-9]{3}$)[0-9]{1,6})?")
Limit = Annotated[float, Field(ge=-MOST_NUMBER, le=MOST_NUMBER)]


@step(
    "number",
    gettext_lazy("Question with a number as its answer"),
    about=gettext_lazy("A question of yours that is answered with a number."),
    menu=Menu.QUESTIONS,
    rank=4,
    template="survey/number.html",
    new={
        "question": {"en": "How many people live in your household?"},
        "help": {"en": "Count yourself, too."},
        "minimum": 1.0,
        "maximum": 30.0,
        "integer": True,
        "required": True,
    },
)
class Number(Question):
    """Limits are inclusive, None is no limit; ``integer``: whole numbers alone."""

    is_number: ClassVar[bool] = True

    minimum: Annotated[Limit | None, Edit(gettext_lazy("Lowest number, empty for no limit"))] = None
    maximum: Annotated[Limit | None, Edit(gettext_lazy("Highest number, empty for no limit"))] = (
        None
    )
    unit: Unit = None
    integer: Annotated[bool, Edit(gettext_lazy("Whole numbers only"))] = True
    required: Required = True

    @model_validator(mode="after")
    def _some_number_fits(self) -> Number:
        if self.minimum is None or self.maximum is None:
            return self
        low = math.ceil(self.minimum) if self.integer else self.minimum
        if low > self.maximum:
            raise ValueError(
                f"No number lies between {self.minimum:g} and {self.maximum:g}, expected the "
                "smallest before the largest."
            )
        return self

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        return {
            **super().show(asked, filled),
            "field": FIELD,
            "unit": asked.read(self.unit),
            "limits": self._describe_limits(),
            "integer": self.integer,
            "max_characters": MOST_CHARACTERS,
            "value": filled.text(FIELD)[:MOST_CHARACTERS],
            "problem": filled.problem(FIELD),
        }

    def read_answer(self, sent: QueryDict) -> int | float | None:
        text = read_single(sent, FIELD)
        if text:
            return self.read_number(text)
        if self.required:
            raise AnswersRefused({FIELD: _("Enter a number.")})
        return None

    def read_number(self, text: str) -> int | float:
        """Return the number that a participant wrote. Raises `AnswersRefused` with the remedy."""
        found = DECIMAL.fullmatch(text)
        number = float(text.replace("−", "-").replace(",", ".")) if found else None
        if number is None or (self.integer and not number.is_integer()):
            remedy = (
                _("Enter a whole number in digits, such as 1500.")
                if self.integer
                else _("Enter a number in digits, such as 1500 or 2.5.")
            )
            raise AnswersRefused({FIELD: remedy})
        low, high = self.minimum, self.maximum
        if (low is not None and number < low) or (high is not None and number > high):
            raise AnswersRefused({FIELD: self._describe_limits()})
        return int(number) if number.is_integer() else number

    def tell(self, value: Any, say: Say) -> Iterable[AnswerLine]:
        return tell_number(value, self.unit, say)

    def columns(self, name: str, say: Say) -> Iterator[tuple[str, Column]]:
        values = f"number{write_unit(self.unit, say)}; {EMPTY}"
        kind = ColumnType.INTEGER if self.integer else ColumnType.NUMBER
        yield "", Column(name, kind, values, say(self.question))

    def _describe_limits(self) -> str:
        """Return what to enter, "" where every number is possible."""
        low, high = self.minimum, self.maximum
        values = {
            "low": "" if low is None else write_number(low),
            "high": "" if high is None else write_number(high),
        }
        if low is not None and high is not None:
            return _("Enter a number from %(low)s to %(high)s.") % values
        if low is not None:
            return _("Enter %(low)s or more.") % values
        return _("Enter %(high)s or less.") % values if high is not None else ""
