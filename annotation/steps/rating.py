"""Rating pages: one group, every trait scale as a line from 0 to 100.

The answers to that of a repeated group are compared with the first ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from annotation.steps.kind import LINE_SECONDS, Extent, Menu, StepKind, step


@step(
    "rating",
    _("Rating page"),
    about=_("One group on all lines: as many such pages, as many groups for each participant."),
    menu=Menu.RATINGS,
    rank=1,
    template="survey/rating.html",
)
class RatingStep(StepKind):
    """Its page is `annotation.survey.pages.rating`.

    Always asked: groups are given at the start, and one that is never rated would hold a place.
    """

    has_group: ClassVar[bool] = True
    is_conditional: ClassVar[bool] = False
    comes_after: ClassVar[frozenset[str]] = frozenset({"rating"})
    comes_before: ClassVar[frozenset[str]] = frozenset({"repeat", "demographics", "debrief"})
    settings: ClassVar[tuple[str, ...]] = (
        "scale_order",
        "pole_sides",
        "show_ticks",
        "one_per_domain",
        "skipping",
    )
    parts: ClassVar[tuple[str, ...]] = ("groups", "scales")

    @classmethod
    def find_misplacement(cls, before: Sequence[str]) -> str:
        return "is a rating page after the repeated group." if "repeat" in before else ""

    def seconds(self, of: Extent) -> float:
        return of.lines * LINE_SECONDS


@step(
    "repeat",
    _("Rating page of a repeated group"),
    about=_("An earlier group once more, to see how far answers agree."),
    menu=Menu.RATINGS,
    rank=2,
    template="survey/rating.html",
)
class Repeat(RatingStep):
    """Its page is `annotation.survey.pages.repeat`."""

    once: ClassVar[bool] = True
    is_check: ClassVar[bool] = True
    comes_before: ClassVar[frozenset[str]] = frozenset({"demographics", "debrief"})
    settings: ClassVar[tuple[str, ...]] = (
        "agreement_rule",
        "agreement_within",
        "agreement_at_least",
        "agreement_tau",
    )
    parts: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def find_misplacement(cls, before: Sequence[str]) -> str:
        if "rating" in before:
            return ""
        return "is “repeat”, expected a rating page before it."
