"""Withdrawal: a participant's answers are erased, the record for their payment stays."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from annotation.models import (
    DataDecision,
    Review,
    Submission,
    SubmissionState,
    Withdrawal,
)
from annotation.panels.identity_erasure import erase_settled_ids
from annotation.studies.erasure import erase_answers
from annotation.survey.visits.errors import WithdrawalClosed


def is_withdrawal_open(submission: Submission) -> bool:
    """Return whether answers can still be erased: through the study's last day, in UTC."""
    last_day = submission.study.withdraw_until
    return last_day is None or timezone.now().date() <= last_day


@transaction.atomic
def withdraw_submission(*, submission: Submission) -> Submission:
    """Erase all answers and what quotes them; keep outcome, pay decision and a receipt.

    Ids of the panel stay until the payment is settled. Withdrawing twice changes nothing. Raises
    `WithdrawalClosed` after the study's last day for it.
    """
    locked = Submission.objects.lock(submission)
    if locked.state == SubmissionState.WITHDRAWN:
        return locked
    if not is_withdrawal_open(locked):
        raise WithdrawalClosed
    erased = erase_answers(locked, why="the participant withdrew")
    Withdrawal.objects.create(
        submission=locked,
        erased=erased,
        was_accepted=locked.is_counted and locked.data_decision == DataDecision.ACCEPTED,
    )
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
    erase_settled_ids(submission=locked)
    return locked
