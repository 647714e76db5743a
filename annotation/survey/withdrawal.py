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
    Withdrawal,
)
from annotation.panels.identity_erasure import erase_settled_ids
from annotation.studies.quality.record_loader import forget_visit
from annotation.survey.visits.errors import WithdrawalClosed

# Stands where a reviewer's words may have quoted answers. Stored in English, as all reasons are.
ERASED_REASON = "Erased: the participant withdrew."


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
    locked = (
        Submission.objects.select_for_update(of=("self",))
        .select_related("study")
        .get(pk=submission.pk)
    )
    if locked.state == SubmissionState.WITHDRAWN:
        return locked
    if not is_withdrawal_open(locked):
        raise WithdrawalClosed
    erased = erase_answers(locked)
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


def erase_answers(submission: Submission) -> dict[str, int]:
    """Erase what a submission holds of answers, also in reviews and in this process's memory.

    Returns how many rows were erased, by kind. Part of the caller's transaction.
    """
    kinds = {
        "ratings": Rating.objects.filter(assignment__submission=submission),
        "checks": submission.checks.all(),
        "about_yourself": submission.answers.all(),
        "other_answers": submission.step_answers.all(),
        "page_times": submission.pages.all(),
    }
    erased = {name: rows.delete()[0] for name, rows in kinds.items()}
    # What the flags of earlier decisions said was read from the answers; people quote them.
    submission.reviews.update(flags=[])
    submission.reviews.exclude(reviewer=None).exclude(reason="").update(reason=ERASED_REASON)
    transaction.on_commit(lambda: forget_visit(submission))
    return erased
