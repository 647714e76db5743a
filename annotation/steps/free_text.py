"""A question that is answered with a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field

from annotation.common.tables import Column, ColumnType
from annotation.steps.forms import AnswersRefused, FilledForm, read_paragraphs, read_text
from annotation.steps.kind import TEXT_SECONDS, Asked, Edit, Extent, Menu, Say, step
from annotation.steps.question import EMPTY, Question, Required

MOST_CHARACTERS = 5_000  # of an answer
FIELD = "text"


@step(
    "free_text",
    gettext_lazy("Question with a text as its answer"),
    about=gettext_lazy("A question of yours that is answered in words."),
    menu=Menu.QUESTIONS,
    rank=6,
    template="survey/free_text.html",
    new={
        "question": {"en": "Is there anything that you want to tell us?"},
        "required": False,
        "long": True,
        "max_characters": 1000,
    },
)
class FreeText(Question):
    """``max_characters``: 1 to 5,000; ``required``: the page is not sent without an answer."""

    is_text: ClassVar[bool] = True

    long: Annotated[bool, Edit(gettext_lazy("Several lines to write on"))] = True
    required: Required = False
    max_characters: Annotated[
        int,
        Field(ge=1, le=MOST_CHARACTERS),
        Edit(gettext_lazy("Most characters"), more={"low": 1, "high": MOST_CHARACTERS}),
    ] = 1_000

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        return {
            **super().show(asked, filled),
            "field": FIELD,
            "is_long": self.long,
            "max_characters": self.max_characters,
            # Longer than allowed is shown in full: nobody's text is cut without a word.
            "value": filled.text(FIELD),
            "problem": filled.problem(FIELD),
        }

    def read_answer(self, sent: QueryDict) -> str | None:
        text = read_paragraphs(sent, FIELD) if self.long else read_text(sent, FIELD)
        if not text and self.required:
            raise AnswersRefused({FIELD: _("Write an answer. A few words are enough.")})
        if len(text) > self.max_characters:
            raise AnswersRefused(
                {
                    FIELD: _("The answer has %(n)s characters. Write %(max)s or fewer.")
                    % {"n": len(text), "max": self.max_characters}
                }
            )
        return text or None

    def columns(self, name: str, say: Say) -> Iterator[tuple[str, Column]]:
        values = f"text of at most {self.max_characters} characters; {EMPTY}"
        yield "", Column(name, ColumnType.TEXT, values, say(self.question))

    def seconds(self, of: Extent) -> float:
        return of.reading(self.question) + TEXT_SECONDS
