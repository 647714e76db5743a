"""Prolific: ids in the link or in a signed token, codes by outcome, an API, webhooks."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from urllib.parse import urlencode, urlsplit

from django.conf import settings as site
from django.http import QueryDict

from annotation.models import Outcome, Panel, PanelSettings, RejectionGround, ScreenOutPay, Study
from annotation.models import Submission as SubmissionRow
from annotation.panels import signed_links
from annotation.panels.base import (
    CompletionCode,
    CompletionPath,
    PanelArrival,
    PanelKind,
    PanelRules,
    check_ids,
    read_ids,
    read_parameter,
)
from annotation.panels.prolific_client import ProlificClient, connect_prolific

COMPLETE_URL = "https://app.prolific.com/submissions/complete"
STUDY_PARAMETER = "STUDY_ID"

# Checks that rest on memory are no ground at all, so that no ground maps to them.
CATEGORIES: dict[str, str] = {
    RejectionGround.TOO_FAST: "TOO_QUICKLY",
    RejectionGround.LOW_EFFORT: "LOW_EFFORT",
    RejectionGround.FAILED_CHECK: "FAILED_CHECK",
}
# Outcome → the type of its code, and what Prolific does when somebody comes back with it.
CODES = {
    Outcome.COMPLETED: ("COMPLETED", "MANUALLY_REVIEW"),
    Outcome.FAILED_CHECK: ("FAILED_ATTENTION_CHECK", "MANUALLY_REVIEW"),
    Outcome.NO_CONSENT: ("NO_CONSENT", "REQUEST_RETURN"),
    Outcome.TIMED_OUT: ("OTHER", "MANUALLY_REVIEW"),
    Outcome.QUOTA_FULL: ("OTHER", "REQUEST_RETURN"),
}
SCREEN_OUT_CODES = {
    ScreenOutPay.NOTHING: ("OTHER", "REQUEST_RETURN"),
    ScreenOutPay.FIXED: ("FIXED_SCREENOUT", "FIXED_SCREENOUT_PAYMENT"),
    ScreenOutPay.SHARE: ("OTHER", "DYNAMIC_PAYMENT"),
}


class Prolific(PanelKind):
    name = Panel.PROLIFIC
    known_as = "Prolific"
    submissions_url = "https://app.prolific.com/submissions"
    person_parameter = "PROLIFIC_PID"
    session_parameter = "SESSION_ID"
    link_token_parameter = "prolific_token"  # noqa: S105 - the name of a parameter
    rules = PanelRules(categories=CATEGORIES, least_message=100, largest_batch=100)
    has_api = True

    def connect(
        self, study: Study, settings: PanelSettings, *, patient: bool = True
    ) -> ProlificClient:
        return connect_prolific(settings, patient=patient)

    def read_arrival(self, sent: QueryDict, settings: PanelSettings) -> PanelArrival:
        """Return the ids of the link; with signed links those that Prolific signed for."""
        person, session = self.person_name(settings), self.session_name(settings)
        if not settings.signed_links:
            return read_ids(sent, person=person, session=session, panel=self.title)
        token = read_parameter(sent, self.token_name(settings))
        claim = signed_links.verify_link(
            token,
            audience=settings.link_audience or urlsplit(site.SITE_URL).hostname or "",
        )
        ids = [
            signed_links.pick_id(claim, *names, in_link=read_parameter(sent, name))
            for name, names in (
                (person, (person, "PROLIFIC_PID", "participant_id")),
                (session, (session, "SESSION_ID", "session_id", "submission_id")),
            )
        ]
        checked = check_ids(*ids, panel=self.title)
        return replace(checked, signed_link=hashlib.sha256(token.encode()).hexdigest())

    def token_name(self, settings: PanelSettings) -> str:
        return settings.link_token_parameter or self.link_token_parameter

    def link_query(self, settings: PanelSettings) -> str:
        names = {
            self.person_name(settings): "{{%PROLIFIC_PID%}}",
            STUDY_PARAMETER: "{{%STUDY_ID%}}",
            self.session_name(settings): "{{%SESSION_ID%}}",
        }
        return f"?{urlencode(names, safe='{}%')}"

    def complete(
        self, study: Study, settings: PanelSettings, outcome: str, submission: SubmissionRow | None
    ) -> CompletionPath | None:
        code = study.completion_codes.get(outcome, "")
        if not code:
            return None
        return CompletionPath(code, f"{COMPLETE_URL}?{urlencode({'cc': code})}", self.title)

    def describe_codes(self, study: Study, settings: PanelSettings) -> list[CompletionCode]:
        kinds = CODES | {
            Outcome.SCREENED_OUT: SCREEN_OUT_CODES[ScreenOutPay(settings.screen_out_pay)]
        }
        return [
            CompletionCode(outcome, study.completion_codes.get(outcome.value, ""), *kinds[outcome])
            for outcome in Outcome
            if outcome in kinds
        ]
