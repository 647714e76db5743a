"""What the study was about, on a page of its own."""

from __future__ import annotations

from typing import Any, ClassVar

from django.utils.translation import gettext_lazy as _

from annotation.steps.forms import FilledForm
from annotation.steps.kind import Asked, Extent, Menu, StepKind, step


@step(
    "debrief",
    _("What the study was about"),
    about=_(
        "What the study was about, on a page of its own. Comes last; without it the end page says "
        "it."
    ),
    menu=Menu.FRAME,
    rank=5,
    template="survey/debrief.html",
)
class Debrief(StepKind):
    is_last: ClassVar[bool] = True
    once: ClassVar[bool] = True
    comes_after: ClassVar[frozenset[str]] = frozenset({"*"})
    comes_before: ClassVar[frozenset[str]] = frozenset()

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        return {
            "title": asked.wording["debrief_title"],
            "body": asked.wording["debrief_body"],
            "logo": asked.find_logo(),
        }

    def seconds(self, of: Extent) -> float:
        return of.reading(of.wording.get("debrief_body", ""))
