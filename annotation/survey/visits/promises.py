"""What pages promise about pay: derived from the rules by which it is decided."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.common.money import format_reward, take_percent
from annotation.instruments.content import Content
from annotation.instruments.flow import Step
from annotation.models import (
    Instrument,
    Outcome,
    PayDecision,
    ScreenOutPay,
    Skipping,
    Study,
    Submission,
)
from annotation.panels.study_settings import load_panel_settings
from annotation.steps.demographics import Demographics
from annotation.steps.kind import KINDS
from annotation.steps.rating import RatingStep, Repeat
from annotation.studies.quality.response_indices import FEWEST_LINES
from annotation.studies.rejection_grounds import REJECTABLE_CHECKS, failures_needed


def list_pay_grounds(study: Study, content: Content) -> list[str]:
    """Return the reasons for which pay can be refused in a study with this instrument.

    Empty only for a study without pay: every other one may reject for exceptional speed. No query.
    """
    if not study.is_paid:
        return []
    kinds = [step.kind for step in content.steps]
    grounds = [_("You are far faster than almost everyone else.")]
    if RatingStep.name in kinds and len(content.scales) >= FEWEST_LINES:
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


def describe_skipping(study: Study, instrument: Instrument) -> str:
    """Return what participants may leave out; "" where every line is asked for."""
    by_line = instrument.skipping == Skipping.LINE
    if instrument.skipping == Skipping.NEVER:
        return ""
    if study.rates_texts and by_line:
        return _("You can leave out any text, and any line, that you would rather not rate.")
    if study.rates_texts:
        return _("You can leave out any text that you would rather not rate.")
    if by_line:
        return _("You can leave out any group, and any line, that you would rather not rate.")
    return _("You can leave out any group that you would rather not rate.")


def describe_work(study: Study, content: Content) -> str:
    """Return how much there is to answer. No query for a frozen instrument."""
    kinds = [KINDS[step.kind] for step in content.steps]
    groups, lines = kinds.count(RatingStep), len(content.scales)
    checks = sum(kind.is_check and not kind.has_group for kind in kinds)
    questions = sum(kind.is_question for kind in kinds)
    about = len(content.questions) * (Demographics in kinds)
    told = []
    if groups:
        on = ngettext("%(n)d line", "%(n)d lines", lines) % {"n": lines}
        text = (
            ngettext(
                "You rate the writer of %(n)d text, on %(lines)s.",
                "You rate the writers of %(n)d texts, on %(lines)s each.",
                groups,
            )
            if study.rates_texts
            else ngettext(
                "You rate %(n)d group, on %(lines)s.",
                "You rate %(n)d groups, on %(lines)s each.",
                groups,
            )
        )
        told.append(text % {"n": groups, "lines": on})
    counted = [
        (
            checks,
            ngettext("There is %(n)d short check.", "There are up to %(n)d short checks.", checks),
        ),
        (
            questions,
            ngettext(
                "You answer %(n)d other question.",
                "You answer up to %(n)d other questions.",
                questions,
            ),
        ),
        (
            about,
            ngettext(
                "There is %(n)d question about yourself, which you can leave out.",
                "There are %(n)d questions about yourself, which you can leave out.",
                about,
            ),
        ),
    ]
    told += [text % {"n": n} for n, text in counted if n]
    return " ".join(told)


def describe_repeat(study: Study, steps: Iterable[Step]) -> str:
    """Return that something comes twice; "" where nothing does."""
    if Repeat.name not in {step.kind for step in steps}:
        return ""
    if study.rates_texts:
        return _("One text comes twice, so that we see how steady ratings are.")
    return _("One group comes twice, so that we see how steady ratings are.")


def describe_pay(submission: Submission) -> str:
    """Return what becomes of the pay of a visit that ended early; "" for a study without pay."""
    study, outcome = submission.study, submission.outcome
    if not study.is_paid:
        return ""
    if submission.pay_decision == PayDecision.REJECTED:
        return _("The researchers refused the payment. Write to them if you have a question.")
    if submission.pay_decision == PayDecision.APPROVED:
        if outcome == Outcome.SCREENED_OUT and (pay := _screen_out_pay(study)):
            return _("You are paid %(pay)s for this part.") % {"pay": pay}
        return _("You are paid all the same. Thank you.")
    if outcome == Outcome.NO_CONSENT:
        return _("There is no payment, because you did not take part.")
    if outcome == Outcome.SCREENED_OUT and (pay := _screen_out_pay(study)):
        return _("The study pays %(pay)s for this part. The full pay is for people who finish.") % {
            "pay": pay
        }
    if outcome in {Outcome.QUOTA_FULL, Outcome.SCREENED_OUT}:
        return _("There is no payment for this part: only people who finish are paid.")
    return _("The researchers decide on your payment and have your work before them. Thank you.")


def _screen_out_pay(study: Study) -> str:
    """Return what a screening pays by the study's settings, "" for nothing."""
    settings = load_panel_settings(study)
    share = take_percent(study.reward_cents, Decimal(settings.screen_out_percent))
    paid = {ScreenOutPay.FIXED: settings.screen_out_minor, ScreenOutPay.SHARE: share}
    return format_reward(paid.get(ScreenOutPay(settings.screen_out_pay), 0), study.currency)


def describe_answers(submission: Submission, *, may_erase: bool) -> str:
    """Return what becomes of the answers of a visit that ended early. Five queries at most."""
    days = submission.study.answer_days
    pages = submission.assignments
    answered = pages.filter(ratings__isnull=False), pages.filter(missing_ratings__isnull=False)
    if not any(
        rows.exists()
        for rows in (*answered, submission.answers, submission.step_answers, submission.checks)
    ):
        return _("No answers of yours are stored.")
    told = _("What you sent is kept apart and not used.")
    if days is not None:
        told += " " + ngettext(
            "It is erased %(n)d day after the study has closed.",
            "It is erased %(n)d days after the study has closed.",
            days,
        ) % {"n": days}
    if may_erase:
        told += " " + _("You can read it and have it erased under “Your answers”.")
    return told
