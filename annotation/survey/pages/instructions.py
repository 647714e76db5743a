"""The instructions: read and go on."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from annotation.models import Outcome
from annotation.survey.client_record import ClientRecord
from annotation.survey.flow import Step
from annotation.survey.pages.page import Page
from annotation.survey.visit import Visit


class InstructionsPage(Page):
    template = "survey/instructions.html"

    def show(
        self, visit: Visit, step: Step, *, sent: QueryDict | None, problems: dict[str, str]
    ) -> dict[str, Any]:
        return {
            "title": visit.wording["instructions_title"],
            "body": visit.wording["instructions_body"],
        }

    def store(
        self, visit: Visit, step: Step, *, sent: QueryDict, client: ClientRecord
    ) -> Outcome | None:
        return None
