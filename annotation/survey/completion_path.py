"""How a visit ends on the panel's side: the code for its outcome, and the ways back."""

from __future__ import annotations

from annotation.models import (
    Outcome,
    PayDecision,
    Study,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.panels.base import CompletionPath, WayToReturn
from annotation.panels.registry import get_panel
from annotation.panels.study_settings import load_panel_settings

# A preview is shown where the code stands, but never a code that a panel would pay for.
PREVIEW_CODE = "PREVIEW"


def find_completion_path(
    study: Study, outcome: Outcome | str, submission: Submission | None = None
) -> CompletionPath | None:
    """Return the path for an outcome, None where the panel has no code for it.

    Without ``submission`` it is the path of somebody who did not start. Two queries at most.
    """
    if submission is not None and submission.origin == SubmissionOrigin.PREVIEW:
        return CompletionPath(code=PREVIEW_CODE, return_url="")
    settings = load_panel_settings(study)
    return get_panel(study.panel).complete(study, settings, str(outcome), submission)


def find_way_to_return(submission: Submission) -> WayToReturn | None:
    """Return how somebody who stopped before the end, or lost the place, returns their submission.

    None for those who are owed a payment or have nothing to return. One query at most.
    """
    stopped = submission.state == SubmissionState.WITHDRAWN and not submission.outcome
    timed_out = submission.outcome == Outcome.TIMED_OUT
    cut_off = submission.state == SubmissionState.IN_PROGRESS
    if (
        not (stopped or timed_out or cut_off)
        or submission.pay_decision == PayDecision.APPROVED
        or submission.origin == SubmissionOrigin.PREVIEW
    ):
        return None
    settings = load_panel_settings(submission.study)
    return get_panel(submission.study.panel).give_back(submission.study, settings, submission)
