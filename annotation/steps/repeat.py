"""The repeated group: a rating page whose answers are compared with the first ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from annotation.steps.kind import LINE_SECONDS, Extent, Menu, StepKind, step


@step(
    "repeat",
    _("Rating page of a repeated group"),
    about=_("An earlier group once more, to see how far answers agree."),
    menu=Menu.RATINGS,
    rank=2,
    template="survey/rating.html",
)
class Repeat(StepKind):
    """Its page is `annotation.survey.pages.repeat`."""

    once: ClassVar[bool] = True
    has_group: ClassVar[bool] = True
    is_check: ClassVar[bool] = True
    is_conditional: ClassVar[bool] = False
    comes_after: ClassVar[frozenset[str]] = frozenset({"rating"})
    comes_before: ClassVar[frozenset[str]] = frozenset({"demographics", "debrief"})
    settings: ClassVar[tuple[str, ...]] = (
        "agreement_rule",
        "agreement_within",
        "agreement_at_least",
        "agreement_tau",
    )

    @classmethod
    def find_misplacement(cls, before: Sequence[str]) -> str:
        if "rating" in before:
            return ""
        return "is “repeat”, expected a rating page before it."

    def seconds(self, of: Extent) -> float:
        return of.lines * LINE_SECONDS
