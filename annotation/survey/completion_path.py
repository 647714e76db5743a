"""How a visit ends on the panel's side: the code for its outcome and the way back."""

from __future__ import annotations

from annotation.models import Outcome, Study, Submission, SubmissionOrigin
from annotation.panels.base import CompletionPath
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
