"""Pages whose texts are the instrument’s own: instructions, with an example, and the debriefing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.steps.forms import FilledForm
from annotation.steps.kind import Asked, Extent, Menu, StepKind, step


@dataclass(frozen=True)
class Example:
    """A line about something harmless, as it looks when it is answered."""

    left: str
    right: str
    explanation: str


class InstrumentText(StepKind):
    """Shows a title and a text of the instrument; the name of the kind begins the keys of both."""

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        texts = {part: asked.wording[f"{self.name}_{part}"] for part in ("title", "body")}
        return {**texts, "logo": asked.find_logo()}

    def seconds(self, of: Extent) -> float:
        return of.reading(of.wording.get(f"{self.name}_body", ""))


@step(
    "instructions",
    gettext_lazy("Instructions"),
    about=gettext_lazy("How the rating pages work."),
    menu=Menu.FRAME,
    rank=2,
    template="survey/instructions.html",
)
class Instructions(InstrumentText):
    once: ClassVar[bool] = True
    comes_after: ClassVar[frozenset[str]] = frozenset({"consent"})
    comes_before: ClassVar[frozenset[str]] = frozenset({"*"})

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        return {**super().show(asked, filled), "example": find_example(asked)}


@step(
    "debrief",
    gettext_lazy("What the study was about"),
    about=gettext_lazy(
        "What the study was about, on a page of its own. Comes last; without it the end page says "
        "it."
    ),
    menu=Menu.FRAME,
    rank=5,
    template="survey/debrief.html",
)
class Debrief(InstrumentText):
    is_last: ClassVar[bool] = True
    once: ClassVar[bool] = True
    comes_after: ClassVar[frozenset[str]] = frozenset({"*"})
    comes_before: ClassVar[frozenset[str]] = frozenset()


def find_example(asked: Asked) -> Example | None:
    """Return an example none of whose words is rated, None where there is no such example.

    Words that come up in an example would be rated by it.
    """
    library = _(
        "For example: most people would call a library quiet, so the marker stands near “%(word)s”."
    )
    tortoise = _(
        "For example: most people would call a tortoise slow, so the marker stands near “%(word)s”."
    )
    rated = {word.casefold() for line in asked.lines for word in (line.left, line.right)}
    for left, right, text in (
        (_("quiet"), _("loud"), library),
        (_("slow"), _("fast"), tortoise),
    ):
        if not rated & {left.casefold(), right.casefold()}:
            return Example(left, right, text % {"word": left})
    return None
