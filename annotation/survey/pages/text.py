"""Pages to read and go on from: the instructions, and what the study was about."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from annotation.instruments.flow import Step
from annotation.models import Outcome
from annotation.survey.pages.page import Page
from annotation.survey.visits.client_record import ClientRecord
from annotation.survey.visits.visit import Visit


class TextPage(Page):
    """Shows a title and a text of the instrument; ``name`` begins the keys of both."""

    def __init__(self, name: str) -> None:
        self.name, self.template = name, f"survey/{name}.html"

    def show(
        self, visit: Visit, step: Step, *, sent: QueryDict | None, problems: dict[str, str]
    ) -> dict[str, Any]:
        return {part: visit.wording[f"{self.name}_{part}"] for part in ("title", "body")}

    def store(
        self, visit: Visit, step: Step, *, sent: QueryDict, client: ClientRecord
    ) -> Outcome | None:
        return None
