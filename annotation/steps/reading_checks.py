"""Checks of reading: a text that says what to choose, and a statement that is true of nobody."""

from __future__ import annotations

from typing import Annotated, ClassVar

from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from pydantic import Field, model_validator

from annotation.steps.kind import Asked, Checked, Edit, Mark, Menu, step
from annotation.steps.question import AGREEMENT, OptionsQuestion
from annotation.steps.texts import Texts


class ReadingCheck(OptionsQuestion):
    """Any answer except those that pass means that the page was not read."""

    is_question: ClassVar[bool] = False
    is_check: ClassVar[bool] = True

    @property
    def passing(self) -> list[str]:
        raise NotImplementedError

    def read(self, sent: QueryDict, asked: Asked) -> Checked:
        chosen, passing = self.read_choice(sent), self.passing
        return Checked(self.name, {"chosen": chosen}, {"any_of": passing}, chosen in passing)


@step(
    "instructed",
    _("Check: an answer that the text asks for"),
    about=_("The text says which answer to choose. Panels allow rejection for it."),
    menu=Menu.CHECKS,
    rank=4,
    template="survey/choice.html",
    new={
        "question": {
            "en": "People read surveys in many ways. Choose “Somewhat disagree” to show that you "
            "read this."
        },
        "options": AGREEMENT,
        "expected": "somewhat-disagree",
    },
)
class Instructed(ReadingCheck):
    """The text says which answer to give; ``expected`` is its name."""

    expected: Annotated[str, Mark(_("passes"))]

    @property
    def passing(self) -> list[str]:
        return [self.expected]

    @model_validator(mode="after")
    def _expected_is_an_answer(self) -> Instructed:
        self.check_named([self.expected], "The answer that passes")
        return self


@step(
    "nonsensical",
    _("Check: a statement that nobody can affirm"),
    about=_("A statement that is true of no one. Panels allow rejection for it."),
    menu=Menu.CHECKS,
    rank=5,
    template="survey/choice.html",
    new={
        "question": {"en": "I have crossed the Atlantic Ocean on foot."},
        "options": AGREEMENT,
        "accepted": ["strongly-disagree", "somewhat-disagree"],
    },
)
class Nonsensical(ReadingCheck):
    """A statement that is true of nobody; ``accepted`` names the answers that do not affirm it."""

    question: Annotated[Texts, Edit(_("Statement"))]
    accepted: Annotated[list[str], Field(min_length=1), Mark(_("passes"))]

    @property
    def passing(self) -> list[str]:
        return self.accepted

    @model_validator(mode="after")
    def _some_answers_fail(self) -> Nonsensical:
        self.check_named(self.accepted, "An answer that passes")
        if set(self.accepted) >= set(self.names):
            raise ValueError("Every answer passes, expected at least one that does not.")
        return self
