"""Reviews: two separate decisions, whether a submission’s data count and whether it is paid.

Exclusion is not rejection. Failing a check that rests on memory may exclude data; it never costs
pay. A rejection of pay therefore names one of the grounds that panels allow.
"""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.core.validators import ProhibitNullCharactersValidator
from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.instruments.checks import CHECK_RULES
from annotation.models import (
    AcceptRule,
    CheckKind,
    DataDecision,
    ExcludeRule,
    PayDecision,
    RejectionGround,
    Review,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.studies.quality import Assessment, assess_submissions
from annotation.studies.rejection_grounds import rejection_grounds

MEMORY_CHECKS = frozenset(kind for kind in CheckKind if CHECK_RULES[kind].rests_on_memory)

# Why a ground that somebody chose does not hold.
UNFOUND = {
    RejectionGround.TOO_FAST: gettext_lazy(
        "%(submission)s was not exceptionally fast: expected a time more than three standard "
        "deviations below the mean of the study."
    ),
    RejectionGround.LOW_EFFORT: gettext_lazy(
        "%(submission)s shows no low effort throughout: expected nearly all lines of every page at "
        "one place."
    ),
    RejectionGround.FAILED_CHECK: gettext_lazy(
        "%(submission)s failed too few checks that ask for an answer: expected one in a study of "
        "under five minutes, two in a longer one. Checks that rest on memory do not count."
    ),
}


@transaction.atomic
def review_submission(
    *,
    submission: Submission,
    reviewer: User | None,
    data_decision: str,
    pay_decision: str,
    reason: str = "",
    on_ground: str = "",
    assessment: Assessment | None = None,
) -> Review:
    """Record one decision about a submission and put it in force.

    ``on_ground`` is a `RejectionGround` and is needed for a rejection of pay, as is ``reason``.
    Raises `ValidationError` for a submission that is still in progress, for accepting data of one
    that is not finished, for a rejection without reason or ground, and for a null character in the
    reason; nothing is stored then.
    ``submission`` carries the new decisions afterwards. The review keeps the quality flags of this
    moment; ``assessment`` is taken for them where the caller has just computed it.
    """
    locked = Submission.objects.lock(submission)
    validate_state(locked, data_decision)
    reason = reason.strip()
    ProhibitNullCharactersValidator()(reason)  # PostgreSQL stores none
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
        flags=_describe_flags(locked, assessment),
    )
    review.full_clean()
    review.save()
    locked.data_decision = data_decision
    locked.pay_decision = pay_decision
    locked.save(update_fields=["data_decision", "pay_decision"])
    submission.data_decision, submission.pay_decision = data_decision, pay_decision
    return review


@transaction.atomic
def decide_by_rules(*, submission: Submission) -> Review | None:
    """Decide a finished submission by the rules of its study; None if left to a person.

    Where a rule accepts, data are accepted; where one excludes, they are excluded; pay is approved
    either way. Where checks could not be asked, where no rule applies, or where a decision is
    already in force, nothing happens, so calling it twice stores one review.
    """
    study = submission.study
    rules = (AcceptRule(study.accept_rule), ExcludeRule(study.exclude_rule))
    if rules == (AcceptRule.PROPOSE, ExcludeRule.PROPOSE):
        return None
    locked = Submission.objects.lock(submission)
    if (
        locked.origin == SubmissionOrigin.PREVIEW
        or locked.state != SubmissionState.FINISHED
        or locked.checks_passed is None
        or locked.data_decision != DataDecision.WAITING
    ):
        return None
    assessment = assess_submissions([locked])[locked.pk]
    found = apply_rules(*rules, passed=locked.checks_passed, assessment=assessment)
    if found is None:
        return None
    data_decision, reason = found
    return review_submission(
        submission=submission,
        reviewer=None,
        data_decision=data_decision,
        pay_decision=PayDecision.APPROVED,
        reason=reason,
        assessment=assessment,
    )


def apply_rules(
    accept: AcceptRule, exclude: ExcludeRule, *, passed: bool, assessment: Assessment
) -> tuple[DataDecision, str] | None:
    """Return what the rules of a study decide and why, None where a person has to.

    Reasons are stored in English, as they are part of the record.
    """
    warned = assessment.has_warning
    if passed and accept == AcceptRule.CHECKS:
        return DataDecision.ACCEPTED, "Every check passed."
    if passed and accept == AcceptRule.NO_FLAG and not warned:
        return DataDecision.ACCEPTED, "Every check passed and no flag was raised."
    if not passed and exclude == ExcludeRule.CHECKS:
        return DataDecision.EXCLUDED, "A check failed."
    if not passed and exclude == ExcludeRule.CHECK_AND_FLAG and warned:
        return DataDecision.EXCLUDED, "A check failed and a flag was raised."
    return None


def _describe_flags(submission: Submission, assessment: Assessment | None) -> list[dict[str, Any]]:
    """Return the flags that a review keeps; none where the answers were erased."""
    if submission.state == SubmissionState.WITHDRAWN:
        return []
    if assessment is None:
        assessment = assess_submissions([submission])[submission.pk]
    return [flag.describe() for flag in assessment.flags]


def validate_state(submission: Submission, data_decision: str) -> None:
    """Raise `ValidationError` if nothing, or not this, can be decided about a submission."""
    if submission.origin == SubmissionOrigin.PREVIEW:
        raise ValidationError(
            _("%(submission)s is a preview: there is nothing to decide."),
            code="preview",
            params={"submission": submission},
        )
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
    if on_ground not in {found.ground for found in rejection_grounds(submission)}:
        raise ValidationError(
            UNFOUND.get(RejectionGround(on_ground), _("The ground does not hold.")),
            code="not_found",
            params={"submission": submission},
        )


def _explain_missing_ground(submission: Submission) -> str:
    """Name the grounds that hold; of checks that rest on memory speak only where they are all."""
    found = ", ".join(f"“{one.ground.label}”" for one in rejection_grounds(submission))
    if found:
        return _("Choose the ground on which pay is rejected: %(grounds)s.") % {"grounds": found}
    said = _("Pay cannot be rejected: none of the grounds that panels allow applies here.")
    if has_failed_memory_check(submission):
        said += " " + _(
            "A failed check that rests on memory may exclude the data; it never costs pay."
        )
    return said


def has_failed_memory_check(submission: Submission) -> bool:
    """One query."""
    return submission.checks.filter(passed=False, kind__in=MEMORY_CHECKS).exists()
