"""The panels, and the two without a service. For another, see docs/adding-a-panel.md."""

from __future__ import annotations

from urllib.parse import urlencode

from annotation.models import (
    Outcome,
    Panel,
    PanelSettings,
    PayDecision,
    Study,
    Submission,
    SubmissionState,
)
from annotation.panels.base import CompletionPath, PanelKind, fill_address
from annotation.panels.prolific import Prolific
from annotation.panels.survey_codes import make_survey_code

# --- Any link: an e-mail, a class, or a panel that needs no more than parameters and addresses


class LinkPanel(PanelKind):
    """Without a parameter for the person, the browser keeps an opaque id of its own."""

    name = Panel.LINK

    def link_query(self, settings: PanelSettings) -> str:
        names = [name for name in (self.person_name(settings), self.session_name(settings)) if name]
        return f"?{urlencode(dict.fromkeys(names, '…'), safe='…')}" if names else ""

    def complete(
        self, study: Study, settings: PanelSettings, outcome: str, submission: Submission | None
    ) -> CompletionPath | None:
        code = study.completion_codes.get(outcome, "")
        template = settings.return_urls.get(outcome, "")
        if not template:
            return CompletionPath(code, "") if code else None
        external_id = find_external_id(submission) if "{id}" in template else ""
        if external_id is None:  # nobody has started: there is nobody to send back
            return CompletionPath(code, "") if code else None
        return CompletionPath(code, fill_address(template, code=code, external_id=external_id))


def find_external_id(submission: Submission | None) -> str | None:
    """Return the panel’s id of a submission’s person. One query."""
    if submission is None:
        return None
    identities = submission.participant.identities.filter(study=submission.study_id)
    return identities.values_list("external_id", flat=True).first()


# --- Mechanical Turk and its like: a code of the submission’s own, and the panel’s file of
# results

#: Who ended in these ways gets a code, as does whose pay is approved; others return the task.
PAID_OUTCOMES = frozenset({Outcome.COMPLETED, Outcome.FAILED_CHECK})


class MTurk(PanelKind):
    """Workers come by a plain link, or with their id in a parameter that the study names."""

    name = Panel.MTURK
    known_as = "Mechanical Turk"
    submissions_url = "https://worker.mturk.com/tasks"
    has_own_codes = True

    def complete(
        self, study: Study, settings: PanelSettings, outcome: str, submission: Submission | None
    ) -> CompletionPath | None:
        if submission is None or submission.state == SubmissionState.IN_PROGRESS:
            return None
        is_paid = submission.pay_decision == PayDecision.APPROVED
        if outcome not in PAID_OUTCOMES and not is_paid:
            return None
        return CompletionPath(make_survey_code(submission.token), "", is_own=True)


# --- The registry

PANELS: dict[str, PanelKind] = {panel.name: panel for panel in (LinkPanel(), Prolific(), MTurk())}


def get_panel(name: str) -> PanelKind:
    """Return the panel of this name. Raises `KeyError` for one that is not registered."""
    return PANELS[name]
