"""What the study was about, as a page of its own before the end."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

from annotation.models import Outcome
from annotation.survey.client_record import ClientRecord
from annotation.survey.flow import Step
from annotation.survey.pages.page import Page
from annotation.survey.visit import Visit


class DebriefPage(Page):
    template = "survey/debrief.html"

    def show(
        self, visit: Visit, step: Step, *, sent: QueryDict | None, problems: dict[str, str]
    ) -> dict[str, Any]:
        return {
            "title": visit.wording["debrief_title"],
            "body": visit.wording["debrief_body"],
        }

    def store(
        self, visit: Visit, step: Step, *, sent: QueryDict, client: ClientRecord
    ) -> Outcome | None:
        return None
