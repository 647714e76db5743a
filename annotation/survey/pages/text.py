"""Pages to read and go on from: the instructions, and what the study was about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.instruments.flow import Step
from annotation.instruments.step_content import PageContent
from annotation.survey.pages.filled_form import FilledForm
from annotation.survey.pages.page import Page
from annotation.survey.pages.questions import content_of
from annotation.survey.visits.visit import Visit


@dataclass(frozen=True)
class Example:
    """A line about something harmless, as it looks when it is answered."""

    left: str
    right: str
    explanation: str


class TextPage(Page):
    """Shows a title and a text of the instrument; ``name`` begins the keys of both."""

    def __init__(self, name: str) -> None:
        self.name, self.template = name, f"survey/{name}.html"

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        texts = {part: visit.wording[f"{self.name}_{part}"] for part in ("title", "body")}
        return {**texts, "logo": visit.find_logo()}

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> None:
        """Nothing is answered here."""


class OwnTextPage(TextPage):
    """A title and a text that the flow brings along."""

    def __init__(self) -> None:
        super().__init__("page")

    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        content = content_of(step, PageContent)
        return {
            "title": visit.read(content.title),
            "body": visit.read(content.body),
            "media": visit.find_media(content.media),
        }


class InstructionsPage(TextPage):
    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        shown = super().show(visit, step, filled)
        return {**shown, "example": find_example(visit)}


def find_example(visit: Visit) -> Example | None:
    """Return an example none of whose words is rated, None where there is no such example.

    Words that come up in an example would be rated by it.
    """
    library = _(
        "For example: most people would call a library quiet, so the marker stands near “%(word)s”."
    )
    tortoise = _(
        "For example: most people would call a tortoise slow, so the marker stands near “%(word)s”."
    )
    rated = {word.casefold() for line in visit.lines for word in (line.left, line.right)}
    for left, right, text in (
        (_("quiet"), _("loud"), library),
        (_("slow"), _("fast"), tortoise),
    ):
        if not rated & {left.casefold(), right.casefold()}:
            return Example(left, right, text % {"word": left})
    return None
