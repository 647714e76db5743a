"""How a visit ends on the panel's side: the code for its outcome, and the ways back."""

from __future__ import annotations

from dataclasses import replace

from annotation.instruments.content import load_content
from annotation.models import (
    Outcome,
    PayDecision,
    ScreenOutPay,
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
    path = get_panel(study.panel).complete(study, settings, str(outcome), submission)
    # Nobody asks for the code of those who did not take part, unless the panel leads back.
    absent = outcome in {Outcome.NO_CONSENT, Outcome.QUOTA_FULL}
    if path is None or (absent and not path.return_url):
        return None
    steps = load_content(submission.instrument).steps if submission is not None else ()
    return replace(path, tells_checks=any(step.told.is_check for step in steps))


def find_way_to_return(submission: Submission) -> WayToReturn | None:
    """Return how somebody who stopped before the end, or lost the place, returns their submission.

    None for those who are owed a payment or have nothing to return. Three queries at most.
    """
    outcome, settings = submission.outcome, load_panel_settings(submission.study)
    stopped = submission.state == SubmissionState.WITHDRAWN and not outcome
    cut_off = submission.state == SubmissionState.IN_PROGRESS
    unpaid = outcome in {Outcome.NO_CONSENT, Outcome.QUOTA_FULL} or (
        outcome == Outcome.SCREENED_OUT and settings.screen_out_pay == ScreenOutPay.NOTHING
    )
    # A code of theirs asks the panel for the return already.
    unpaid = unpaid and find_completion_path(submission.study, outcome, submission) is None
    if (
        not (stopped or cut_off or unpaid or outcome == Outcome.TIMED_OUT)
        or submission.pay_decision == PayDecision.APPROVED
        or submission.origin == SubmissionOrigin.PREVIEW
    ):
        return None
    return get_panel(submission.study.panel).give_back(submission.study, settings, submission)


def find_way_back(study: Study) -> tuple[CompletionPath | None, WayToReturn | None]:
    """Return how somebody who comes too late to take part goes back to the panel.

    The path of a full study if it leads there, else the panel's own list of submissions.
    """
    path = find_completion_path(study, Outcome.QUOTA_FULL)
    url, panel = get_panel(study.panel).submissions_url, get_panel(study.panel).known_as
    return path, WayToReturn(url, panel) if url and path is None else None
