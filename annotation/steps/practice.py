"""The practice page: lines about something harmless, to try how they work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from django.http import QueryDict
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from annotation.steps.forms import FilledForm
from annotation.steps.kind import (
    LINE_SECONDS,
    Asked,
    Edit,
    Extent,
    Menu,
    StepContent,
    StepKind,
    step,
)
from annotation.steps.lines import draw_lines, read_lines, show_lines
from annotation.steps.texts import Texts

MOST_LINES = 5


class PracticeLine(StepContent):
    control: ClassVar[str] = "lines"

    left: Texts
    right: Texts


@dataclass(frozen=True)
class PlacedLine:
    key: str
    left: str
    right: str


@step(
    "practice",
    _("Practice page"),
    about=_("Lines about something harmless. Answers on it are not kept."),
    menu=Menu.FRAME,
    rank=3,
    template="survey/practice.html",
    new={
        "question": {"en": "What is the weather in summer like?"},
        "lead": {
            "en": "This page is for practice, and your answers on it are not kept. Choose where "
            "your answer belongs on each line, with a finger, the mouse or the arrow keys. You can "
            "move the marker until you continue."
        },
        "lines": [
            {"left": {"en": "cloudy"}, "right": {"en": "sunny"}},
            {"left": {"en": "dry"}, "right": {"en": "wet"}},
        ],
    },
)
class Practice(StepKind):
    """A rating page about something harmless; its answers are not kept."""

    comes_before: ClassVar[frozenset[str]] = frozenset({"rating"})

    question: Annotated[Texts, Edit(_("Question"))]
    lead: Annotated[Texts, Edit(_("How the line works"), "paragraph")]
    lines: Annotated[
        list[PracticeLine], Field(min_length=1, max_length=MOST_LINES), Edit(_("Lines"))
    ]

    @classmethod
    def find_misplacement(cls, before: Sequence[str]) -> str:
        if "rating" not in before:
            return ""
        return "is a practice page after a rating page, expected it before the first one."

    def show(self, asked: Asked, filled: FilledForm) -> dict[str, Any]:
        return {
            **show_lines(self._lay_out(asked), filled),
            "heading": asked.read(self.question),
            "lead": asked.read(self.lead),
        }

    def own(self, asked: Asked, filled: FilledForm) -> dict[str, SafeString]:
        return {"drawn_lines": draw_lines(asked, self._lay_out(asked), filled)}

    def read(self, sent: QueryDict, asked: Asked) -> None:
        read_lines(sent, self._lay_out(asked))

    def seconds(self, of: Extent) -> float:
        return of.reading(self.lead) + len(self.lines) * LINE_SECONDS

    def _lay_out(self, asked: Asked) -> list[PlacedLine]:
        return [
            PlacedLine(f"practice-{number}", asked.read(line.left), asked.read(line.right))
            for number, line in enumerate(self.lines, start=1)
        ]
