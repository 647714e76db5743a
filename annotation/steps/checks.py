"""Checks of the rating page just sent. They rest on memory."""

from __future__ import annotations

from typing import ClassVar

from django.utils.translation import gettext_lazy as _

from annotation.steps.kind import CHECK_SECONDS, Extent, Menu, StepKind, step


class CheckAfterRating(StepKind):
    """Asks for the rating page that it follows; the pages are in `annotation.survey.pages`."""

    after_rating: ClassVar[bool] = True
    is_check: ClassVar[bool] = True
    comes_after: ClassVar[frozenset[str]] = frozenset({"rating"})
    comes_before: ClassVar[frozenset[str]] = frozenset({"*"})

    def seconds(self, of: Extent) -> float:
        return CHECK_SECONDS


@step(
    "group_name",
    _("Check: name the group just rated"),
    about=_("“Which group did you just rate?” Rests on memory."),
    menu=Menu.CHECKS,
    rank=1,
    template="survey/group_name.html",
)
class GroupName(CheckAfterRating):
    rates_groups_alone: ClassVar[bool] = True


@step(
    "marked_traits",
    _("Check: one trait high, one trait low"),
    about=_("A word that was marked near and one that was marked far. Rests on memory."),
    menu=Menu.CHECKS,
    rank=2,
    template="survey/marked_traits.html",
)
class MarkedTraits(CheckAfterRating):
    settings: ClassVar[tuple[str, ...]] = ("high_from", "low_to")


@step(
    "typed_traits",
    _("Check: type one trait marked high, one marked low"),
    about=_("The same with words that are typed, as Cao et al. (2022) asked. Rests on memory."),
    menu=Menu.CHECKS,
    rank=3,
    template="survey/typed_traits.html",
)
class TypedTraits(MarkedTraits):
    """Asked wherever there are words to choose from."""
