"""Mechanical Turk and its like: a code of the submission’s own, and the panel’s file of results."""

from __future__ import annotations

from annotation.models import (
    Outcome,
    Panel,
    PanelSettings,
    PayDecision,
    Study,
    Submission,
    SubmissionState,
)
from annotation.panels.base import CompletionPath, PanelKind
from annotation.panels.survey_codes import make_survey_code

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
