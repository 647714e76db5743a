"""The questions about the participant."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from annotation.steps.kind import QUESTION_SECONDS, Extent, Menu, StepKind, step


@step(
    "demographics",
    _("Demographic questions"),
    about=_("The questions about the participant, all optional."),
    menu=Menu.QUESTIONS,
    rank=7,
    template="survey/demographics.html",
)
class Demographics(StepKind):
    """Its page is `annotation.survey.pages.demographics`."""

    once: ClassVar[bool] = True
    parts: ClassVar[tuple[str, ...]] = ("questions",)

    def seconds(self, of: Extent) -> float:
        return of.questions * QUESTION_SECONDS
