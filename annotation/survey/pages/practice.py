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
        content = _content(step)
        return {
            **show_lines(_lay_out(visit, content), filled),
            "heading": visit.read(content.question),
            "lead": visit.read(content.lead),
        }

    def own(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, SafeString]:
        return {"drawn_lines": draw_lines(visit, _lay_out(visit, _content(step)), filled)}

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        read_lines(sent, _lay_out(visit, _content(step)))


def _content(step: Step) -> PracticeContent:
    if not isinstance(step.content, PracticeContent):
        raise TypeError(f"Step {step.index} has no practice lines.")
    return step.content


def _lay_out(visit: Visit, content: PracticeContent) -> list[PracticeLine]:
    return [
        PracticeLine(f"practice-{number}", visit.read(line.left), visit.read(line.right))
        for number, line in enumerate(content.lines, start=1)
    ]
