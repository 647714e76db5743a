"""What pages promise about pay: derived from the rules by which it is decided."""

from __future__ import annotations

from collections.abc import Iterable

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.instruments.flow import Step
from annotation.models import Outcome, PayDecision, ScreenOutPay, Study, Submission
from annotation.panels.study_settings import load_panel_settings
from annotation.steps.rating import RatingStep
from annotation.studies.rejection_grounds import REJECTABLE_CHECKS, failures_needed


def list_pay_grounds(study: Study, steps: Iterable[Step]) -> list[str]:
    """Return the reasons for which pay can be refused in a study with these steps.

    Empty only for a study without pay: every other one may reject for exceptional speed. No query.
    """
    if not study.is_paid:
        return []
    kinds = [step.kind for step in steps]
    grounds = [_("You are far faster than almost everyone else.")]
    if RatingStep.name in kinds:
        grounds.append(_("On every page, you give nearly all answers at the same place."))
    needed = failures_needed(study.estimated_minutes)
    if sum(kind in REJECTABLE_CHECKS for kind in kinds) >= needed:
        grounds.append(
            ngettext(
                "You miss a check that only asks you to read carefully.",
                "You miss %(n)d or more checks that only ask you to read carefully.",
                needed,
            )
            % {"n": needed}
        )
    return grounds


def describe_pay(submission: Submission) -> str:
    """Return what becomes of the pay of a visit that ended early; "" for a study without pay."""
    study, outcome = submission.study, submission.outcome
    if not study.is_paid:
        return ""
    if submission.pay_decision == PayDecision.REJECTED:
        return _("The researchers refused the payment. Write to them if you have a question.")
    if submission.pay_decision == PayDecision.APPROVED:
        if outcome == Outcome.TIMED_OUT:
            return _("You are paid all the same. Thank you.")
        return _("You are paid for this part.")
    if outcome == Outcome.NO_CONSENT:
        return _("There is no payment, because you did not take part.")
    screened_out = outcome == Outcome.SCREENED_OUT
    settings = load_panel_settings(study) if screened_out else None
    if outcome == Outcome.QUOTA_FULL or (
        settings and settings.screen_out_pay == ScreenOutPay.NOTHING
    ):
        return _("There is no payment for this part: only people who finish are paid.")
    return _("The researchers decide on your payment and have your work before them. Thank you.")
