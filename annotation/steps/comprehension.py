"""The check that asks about the instructions, with two tries and the instructions at hand.

The first wrong answer is stored at once, so that a reload does not give it back. Each page carries
the number of its try: a page that comes twice is one try.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from pydantic import model_validator

from annotation.steps.forms import FilledForm, read_single
from annotation.steps.kind import AskAgain, Asked, Checked, Edit, Mark, Menu, step
from annotation.steps.question import OptionsQuestion, new_options

TRY_FIELD = "try"
TRIES = 2


@step(
    "comprehension",
    _("Check: a question about the instructions"),
    about=_("Two tries. Then the study ends or goes on, as you choose."),
    menu=Menu.CHECKS,
    rank=6,
    template="survey/comprehension.html",
    new={
        "question": {"en": "Whose view of the groups are you asked for?"},
        "options": new_options(
            ("my-own", "My own view"),
            ("people-in-america", "The view of people in America"),
            ("the-groups", "The view of the groups themselves"),
        ),
        "right": "people-in-america",
        "on_failure": "go_on",
    },
)
class Comprehension(OptionsQuestion):
    """A question about the instructions with two tries; ``on_failure`` says what follows both."""

    is_question: ClassVar[bool] = False
    is_check: ClassVar[bool] = True
    has_tries: ClassVar[bool] = True
    comes_before: ClassVar[frozenset[str]] = frozenset({"practice", "rating"})

    right: Annotated[str, Mark(_("right"))]
    on_failure: Annotated[
        Literal["screen_out", "go_on"],
        Edit(
            _("After two wrong answers"),
            more={
                "options": [
                    ["go_on", _("go on; the check counts as failed")],
                    ["screen_out", _("end the study as screened out")],
                ]
            },
        ),
    ] = "go_on"

    @model_validator(mode="after")
    def _right_is_an_answer(self) -> Comprehension:
        self.check_named([self.right], "The right answer")
        return self

    @classmethod
    def find_misplacement(cls, before: Sequence[str]) -> str:
        if "instructions" in before:
            return ""
        return "asks about the instructions, expected them before it."

    @property
    def screens_out(self) -> bool:
        return self.on_failure == "screen_out"

    @property
    def is_shared(self) -> bool:
        return False

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        return {
            **super().show(asked, filled),
            "try_field": TRY_FIELD,
            "try_number": len(asked.tries) + 1,
            "ends_study": self.screens_out,
            "instructions": asked.wording["instructions_body"],
        }

    def read(self, sent: QueryDict, asked: Asked) -> Checked | AskAgain:
        tries = list(asked.tries)
        if read_single(sent, TRY_FIELD) != str(len(tries) + 1):
            return AskAgain()
        tries.append(self.read_choice(sent))
        passed = tries[-1] == self.right
        is_open = not passed and len(tries) < TRIES
        return Checked(
            self.name,
            {"tries": tries},
            {"any_of": [self.right]},
            passed=None if is_open else passed,
            reason="The first of two tries was wrong." if is_open else "",
            screens_out=not passed and not is_open and self.screens_out,
        )
