"""A question with one or several of its answers to choose."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common.tables import Column, ColumnType
from annotation.steps.forms import AnswersRefused, FilledForm
from annotation.steps.kind import Asked, Edit, Menu, Say, step
from annotation.steps.question import (
    EMPTY,
    FIELD,
    OptionsQuestion,
    RandomOrder,
    Required,
    label_options,
    list_options,
    new_options,
)


@step(
    "choice",
    gettext_lazy("Question with answers to choose from"),
    about=gettext_lazy("A question of yours with one or several answers."),
    menu=Menu.QUESTIONS,
    rank=1,
    template="survey/choice.html",
    new={
        "question": {"en": "How did you answer this survey?"},
        "options": new_options(
            ("phone", "On a phone"), ("tablet", "On a tablet"), ("computer", "On a computer")
        ),
        "several": False,
        "required": True,
    },
)
class Choice(OptionsQuestion):
    """``several``: any number of answers; ``required``: at least one."""

    several: Annotated[bool, Edit(gettext_lazy("Several answers possible"))] = False
    random_order: RandomOrder = False
    required: Required = True

    @property
    def values(self) -> list[str]:
        return self.names

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        return {**super().show(asked, filled), "several": self.several}

    def read_answer(self, sent: QueryDict) -> str | list[str] | None:
        chosen = self.read_choices(sent)
        if not chosen and self.required:
            raise AnswersRefused(
                {FIELD: _("Choose at least one answer.") if self.several else _("Choose one.")}
            )
        if not chosen:
            return None
        return chosen if self.several else self.read_choice(sent)

    def columns(self, name: str, say: Say) -> Iterator[tuple[str, Column]]:
        asked = say(self.question)
        values = f"{list_options(self.options, say)}; {EMPTY}"
        meaning = f"{asked} (any number of answers)" if self.several else asked
        labels = () if self.several else label_options(self.options, say)
        yield "", Column(name, ColumnType.TEXT, values, meaning, labels)
