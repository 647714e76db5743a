"""The consent page: agree and go on, or decline and end."""

from __future__ import annotations

from typing import Any

from django.http import QueryDict
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.instruments.flow import Step
from annotation.models import Outcome
from annotation.steps.consent import Consent
from annotation.steps.forms import AnswersRefused, FilledForm, PageRefused, read_single
from annotation.survey.pages.page import Page
from annotation.survey.visits.promises import (
    describe_repeat,
    describe_skipping,
    describe_work,
    list_pay_grounds,
)
from annotation.survey.visits.visit import Visit


class ConsentPage(Page, of=Consent):
    def show(self, visit: Visit, step: Step, filled: FilledForm) -> dict[str, Any]:
        return {
            "logo": visit.find_logo(),
            "title": visit.wording["consent_title"],
            "body": visit.wording["consent_body"],
            "agree": visit.wording["consent_agree"],
            "left_out": describe_skipping(visit.study, visit.instrument),
            "work": describe_work(visit.study, visit.content),
            "comes_again": describe_repeat(visit.study, visit.steps),
            "pay_grounds": list_pay_grounds(visit.study, visit.content),
            "agreed": filled.text("agree") == "yes",
        }

    def store(self, visit: Visit, step: Step, sent: QueryDict) -> Outcome | None:
        answer, agreed = read_single(sent, "answer"), read_single(sent, "agree")
        if answer == "decline":
            return Outcome.NO_CONSENT
        if answer not in {"", "continue"} or agreed not in {"", "yes"}:
            raise PageRefused(_("The answer is neither “agree” nor “do not agree”."))
        if agreed != "yes":
            raise AnswersRefused(
                {"agree": _("Tick the box if you agree. Without it the study cannot start.")}
            )
        visit.submission.consented_at = timezone.now()
        return None
