"""Reviews: two separate decisions, whether a submission’s data count and whether it is paid.

Exclusion is not rejection. Failing a check that rests on memory may exclude data; it never costs
pay. A rejection of pay therefore names one of the grounds that panels allow.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import (
    CheckKind,
    DataDecision,
    PayDecision,
    RejectionGround,
    Review,
    Submission,
    SubmissionState,
)
from annotation.studies.pace import is_exceptionally_fast

MEMORY_CHECKS = frozenset({CheckKind.GROUP_NAME, CheckKind.MARKED_TRAITS, CheckKind.REPEATED_GROUP})


@transaction.atomic
def review_submission(
    *,
    submission: Submission,
    reviewer: User | None,
    data_decision: str,
    pay_decision: str,
    reason: str = "",
    on_ground: str = "",
) -> Review:
    """Record one decision about a submission and put it in force.

    ``on_ground`` is a `RejectionGround` and is needed for a rejection of pay, as is ``reason``.
    Raises `ValidationError` for a submission that is still in progress, for accepting data of one
    that is not finished, and for a rejection without reason or ground; nothing is stored then.
    ``submission`` carries the new decisions afterwards.
    """
    locked = Submission.objects.select_for_update().get(pk=submission.pk)
    _validate_state(locked, data_decision)
    reason = reason.strip()
    if pay_decision == PayDecision.REJECTED:
        _validate_rejection(locked, reason, on_ground)
    elif on_ground:
        raise ValidationError(
            _("A ground was given, but pay is not rejected: expected no ground."), code="ground"
        )
    review = Review(
        submission=locked,
        reviewer=reviewer,
        data_decision=data_decision,
        pay_decision=pay_decision,
        pay_ground=on_ground,
        reason=reason,
    )
    review.full_clean()
    review.save()
    locked.data_decision = data_decision
    locked.pay_decision = pay_decision
    locked.save(update_fields=["data_decision", "pay_decision"])
    submission.data_decision, submission.pay_decision = data_decision, pay_decision
    return review


@transaction.atomic
def decide_by_checks(*, submission: Submission) -> Review | None:
    """Decide a finished submission of a study that decides by its checks; None if left to a person.

    Checks passed: data accepted. Failed: data excluded. Pay is approved either way. Where the
    checks could not be asked, where the study does not decide by checks, or where a decision is
    already in force, nothing happens, so calling it twice stores one review.
    """
    locked = Submission.objects.select_for_update().select_related("study").get(pk=submission.pk)
    if (
        not locked.study.decide_by_checks
        or locked.state != SubmissionState.FINISHED
        or locked.checks_passed is None
        or locked.data_decision != DataDecision.WAITING
    ):
        return None
    passed = locked.checks_passed
    return review_submission(
        submission=submission,
        reviewer=None,
        data_decision=DataDecision.ACCEPTED if passed else DataDecision.EXCLUDED,
        pay_decision=PayDecision.APPROVED,
        reason="Every check passed." if passed else "A check failed.",
    )


def _validate_state(submission: Submission, data_decision: str) -> None:
    if submission.state == SubmissionState.IN_PROGRESS:
        raise ValidationError(
            _("%(submission)s is still in progress, expected one that has ended."),
            code="in_progress",
            params={"submission": submission},
        )
    if data_decision == DataDecision.ACCEPTED and submission.state != SubmissionState.FINISHED:
        raise ValidationError(
            _(
                "The data of %(submission)s cannot be accepted: it is “%(state)s”, expected a "
                "finished submission."
            ),
            code="not_finished",
            params={"submission": submission, "state": submission.get_state_display().lower()},
        )
    _refuse_withdrawn(submission, data_decision)


def _refuse_withdrawn(submission: Submission, data_decision: str) -> None:
    """Raise if data that were erased would be more than excluded."""
    if (
        submission.state == SubmissionState.WITHDRAWN
        and data_decision in DataDecision.values
        and data_decision != DataDecision.EXCLUDED
    ):
        raise ValidationError(
            _("%(submission)s was withdrawn and its answers are erased: its data stay excluded."),
            code="withdrawn",
            params={"submission": submission},
        )


def _validate_rejection(submission: Submission, reason: str, on_ground: str) -> None:
    """Raise unless the rejection has a reason and a ground that panels allow."""
    if on_ground not in RejectionGround.values:
        raise ValidationError(_explain_missing_ground(submission), code="ground")
    if not reason:
        raise ValidationError(
            _("A rejection of pay needs a reason: the participant is told it."), code="reason"
        )
    if on_ground == RejectionGround.TOO_FAST and not is_exceptionally_fast(submission):
        raise ValidationError(
            _(
                "%(submission)s was not exceptionally fast: expected a time more than three "
                "standard deviations below the mean of the study."
            ),
            code="not_fast",
            params={"submission": submission},
        )


def _explain_missing_ground(submission: Submission) -> str:
    grounds = ", ".join(f"“{label}”" for label in RejectionGround.labels)
    failed = submission.checks.filter(passed=False, kind__in=MEMORY_CHECKS).exists()
    if failed:
        return _(
            "Pay cannot be rejected for a failed check that rests on memory: such a check may "
            "exclude the data, it never costs pay. Expected one of the grounds that panels "
            "allow: %(grounds)s."
        ) % {"grounds": grounds}
    return _("A rejection of pay needs one of the grounds that panels allow: %(grounds)s.") % {
        "grounds": grounds
    }
