"""The practice page: lines about something harmless, to try how they work. Nothing is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.safestring import SafeString

from annotation.instruments.flow import Step
from annotation.instruments.step_content import PracticeContent
from annotation.survey.pages.filled_form import FilledForm
from annotation.survey.pages.page import Page
from annotation.survey.pages.questions import content_of
from annotation.survey.pages.rating import draw_lines, read_lines, show_lines
from annotation.survey.visits.visit import Visit


@dataclass(frozen=True)
class PracticeLine:
    key: str
    left: str
    right: str


class PracticePage(Page):
    template = "survey/practice.html"

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        content = content_of(step, PracticeContent)
        return {
            **show_lines(_lay_out(visit, step), filled),
            "heading": visit.read(content.question),
            "lead": visit.read(content.lead),
        }

    def own(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, SafeString]:
        return {"drawn_lines": draw_lines(visit, _lay_out(visit, step), filled)}

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        read_lines(sent, _lay_out(visit, step))


def _lay_out(visit: Visit, step: Step) -> list[PracticeLine]:
    return [
        PracticeLine(f"practice-{number}", visit.read(line.left), visit.read(line.right))
        for number, line in enumerate(content_of(step, PracticeContent).lines, start=1)
    ]
