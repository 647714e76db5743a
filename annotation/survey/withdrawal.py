"""Withdrawal: a participant's answers are erased, the record for their payment stays."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from annotation.models import (
    DataDecision,
    Rating,
    Review,
    Submission,
    SubmissionState,
)
from annotation.survey.visits.errors import WithdrawalClosed


def is_withdrawal_open(submission: Submission) -> bool:
    """Return whether answers can still be erased: through the study's last day, in UTC."""
    last_day = submission.study.withdraw_until
    return last_day is None or timezone.now().date() <= last_day


@transaction.atomic
def withdraw_submission(*, submission: Submission) -> Submission:
    """Erase ratings, checks, answers and page events; keep identity, outcome and pay decision.

    Withdrawing twice changes nothing. Raises `WithdrawalClosed` after the study's last day for it.
    """
    locked = (
        Submission.objects.select_for_update(of=("self",))
        .select_related("study")
        .get(pk=submission.pk)
    )
    if locked.state == SubmissionState.WITHDRAWN:
        return locked
    if not is_withdrawal_open(locked):
        raise WithdrawalClosed
    Rating.objects.filter(assignment__submission=locked).delete()
    locked.checks.all().delete()
    locked.answers.all().delete()
    locked.step_answers.all().delete()
    locked.pages.all().delete()
    # What the flags of earlier decisions said was read from the answers.
    locked.reviews.update(flags=[])
    locked.state = SubmissionState.WITHDRAWN
    locked.checks_passed = None
    locked.self_agreement = None
    locked.step_opened_at = None
    locked.reserved_until = None
    locked.data_decision = DataDecision.EXCLUDED
    locked.save()
    Review.objects.create(
        submission=locked,
        reviewer=None,
        data_decision=DataDecision.EXCLUDED,
        pay_decision=locked.pay_decision,
        # A rejection of pay stays in force with its ground.
        pay_ground=locked.reviews.values_list("pay_ground", flat=True).first() or "",
        reason="The participant withdrew; the answers are erased.",
    )
    return locked
