"""The end of a visit: finished with every answer, or ended early."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from annotation.instruments.content import load_content
from annotation.models import Outcome, Submission, SubmissionState
from annotation.steps.kind import KINDS
from annotation.studies.review_service import decide_by_rules


@transaction.atomic
def finish_submission(*, submission: Submission) -> Submission:
    """Close a submission whose last page is stored, and let the study decide where it does so.

    Failing a check changes the outcome and with it the code; it never costs pay.
    """
    submission.checks_passed = judge_checks(submission)
    submission.outcome = (
        Outcome.FAILED_CHECK if submission.checks_passed is False else Outcome.COMPLETED
    )
    submission.state = SubmissionState.FINISHED
    submission.finished_at = timezone.now()
    submission.step_opened_at = None
    submission.reserved_until = None
    submission.save()
    decide_by_rules(submission=submission)
    return submission


@transaction.atomic
def end_submission(*, submission: Submission, outcome: Outcome) -> Submission:
    """End a submission early; its groups are free for others at once."""
    submission.state = SubmissionState.ENDED
    submission.outcome = outcome
    submission.step_opened_at = None
    submission.reserved_until = None
    submission.save()
    return submission


def judge_checks(submission: Submission) -> bool | None:
    """Return whether every check was passed. One query.

    False as soon as one failed. None if one could not be asked, since nothing is known then and a
    person has to look. Who was to be asked no check, because the flow has none or a condition left
    it out, has none to fail.
    """
    results = list(submission.checks.order_by().values_list("passed", flat=True))
    if not results:
        has_checks = any(
            KINDS[step.kind].is_check and step.show_if is None
            for step in load_content(submission.instrument).steps
        )
        return None if has_checks else True
    if False in results:
        return False
    return None if None in results else True
