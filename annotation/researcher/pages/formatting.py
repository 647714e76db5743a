"""Numbers, times, amounts and states of studies as researchers read them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.common.money import format_money, round_minor
from annotation.common.proportions import Proportion
from annotation.models import (
    AgreementRule,
    CheckKind,
    DataDecision,
    Origin,
    PayDecision,
    Study,
    StudyStatus,
    Submission,
    SubmissionState,
)
from annotation.studies.ledger import Ledger
from annotation.studies.submission_summary import Noticed, Proposal

MISSING = "–"

STUDY_BADGES = {
    StudyStatus.DRAFT: "mark-ring",
    StudyStatus.PILOTING: "info mark-play",
    StudyStatus.LIVE: "good mark-play",
    StudyStatus.PAUSED: "warn mark-bars",
    StudyStatus.CLOSED: "mark-tick",
    StudyStatus.ARCHIVED: "mark-ring",
}
ORIGIN_BADGES = {
    Origin.COLLECTED: "",
    Origin.IMPORTED: "info mark-tick",
    Origin.SIMULATED: "warn mark-triangle",
}
PROPOSAL_BADGES = {
    Proposal.ACCEPT: "good mark-tick",
    Proposal.LOOK: "warn mark-triangle",
    Proposal.EXCLUDE: "info mark-ring",
}
STAGE_LABELS = {
    "started": gettext_lazy("Started"),
    "consented": gettext_lazy("Gave consent"),
    "rated": gettext_lazy("Rated a first group"),
    "finished": gettext_lazy("Finished"),
    "reviewed": gettext_lazy("Reviewed"),
    "accepted": gettext_lazy("Accepted"),
}
TEXT_STAGE_LABELS = {**STAGE_LABELS, "rated": gettext_lazy("Rated a first text")}


@dataclass(frozen=True)
class Key:
    """A number that a page is about: value and unit pairs, then a sentence."""

    label: str
    parts: Sequence[tuple[str, str]]
    note: str


def badge(classes: str, label: object) -> SafeString:
    """Return a badge: a mark and a word."""
    return format_html('<span class="badge {}">{}</span>', classes, label)


def study_badge(study: Study) -> SafeString:
    status = StudyStatus(study.status)
    return badge(STUDY_BADGES[status], status.label)


def origin_badge(study: Study) -> SafeString | str:
    """Return the origin as a badge; plain words for data that were collected here."""
    origin = Origin(study.origin)
    classes = ORIGIN_BADGES[origin]
    return badge(classes, origin.label) if classes else str(origin.label)


def submission_badge(submission: Submission) -> SafeString:
    """Return where a submission stands. “Excluded, paid” is not “Rejected”."""
    if submission.pay_decision == PayDecision.REJECTED:
        return badge("bad mark-cross", _("Pay rejected"))
    if submission.state == SubmissionState.WITHDRAWN:
        return badge("mark-ring", _("Withdrawn"))
    if submission.state == SubmissionState.ENDED:
        return badge("mark-ring", _("Ended early"))
    if submission.state == SubmissionState.IN_PROGRESS:
        return badge("info mark-play", _("In progress"))
    if submission.data_decision == DataDecision.ACCEPTED:
        return badge("good mark-tick", _("Accepted"))
    if submission.data_decision == DataDecision.EXCLUDED:
        paid = submission.pay_decision == PayDecision.APPROVED
        return badge("info mark-ring", _("Excluded, paid") if paid else _("Excluded"))
    return badge("info mark-clock", _("Waiting for review"))


def proposal_badge(proposal: Proposal) -> SafeString:
    return badge(PROPOSAL_BADGES[proposal], proposal.label)


def count_of(n: int, wanted: int) -> tuple[str, str]:
    """Return the value of a key, “12”, with its unit, “of 1,000”."""
    return f"{n:,}", _("of %(n)s") % {"n": f"{wanted:,}"}


def duration_parts(seconds: float | None) -> list[tuple[str, str]]:
    """Return a time as numbers with their units: 705 is 11 min 45 s, 3725 is 1 h 02 min."""
    if seconds is None:
        return [(MISSING, "")]
    whole = round(seconds)
    if whole < 60:
        return [(str(whole), _("s"))]
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return [(str(minutes), _("min")), (f"{rest:02d}", _("s"))]
    hours, minutes = divmod(minutes, 60)
    return [(str(hours), _("h")), (f"{minutes:02d}", _("min"))]


def duration(seconds: float | None) -> str:
    return " ".join(f"{number} {unit}".strip() for number, unit in duration_parts(seconds))


def coarse_day(moment: datetime | None) -> str:
    """Return a last submit coarsely: enough to see who has stopped, too little to watch."""
    if moment is None:
        return MISSING
    days = (timezone.localdate() - timezone.localtime(moment).date()).days
    if days <= 1:
        return _("yesterday") if days == 1 else _("today")
    return _("%(n)d days ago") % {"n": days} if days < 8 else _("over a week ago")


def money(minor: float, currency: str) -> str:
    """Return an amount with its sign, “$684.63”, or with its code, “684.63 CHF”.

    A mean is rounded to the smallest unit, halves up.
    """
    return format_money(round_minor(Decimal(str(minor))), currency)


def money_of(ledger: Ledger, minor: float) -> str:
    """Return an amount of a study in its currency."""
    return money(minor, ledger.study.currency)


def describe_low_pay(ledger: Ledger) -> str:
    """Return the warning below the study's lowest hourly pay, "" if there is none."""
    hourly = ledger.hourly
    rate = hourly.expected if hourly.median is None else hourly.median
    if not hourly.is_too_low or rate is None:
        return ""
    return _("An hour pays %(rate)s, less than the %(minimum)s that the study sets.") % {
        "rate": money_of(ledger, rate),
        "minimum": money_of(ledger, hourly.minimum),
    }


def thousands(number: int) -> str:
    return f"{number:,}"


def mean(number: float | None) -> str:
    return MISSING if number is None else f"{number:.1f}"


def per_thousand(count: int, of: int) -> str:
    return f"{1000 * count / of:.1f}" if of else MISSING


def percent(share: float | None, digits: int = 0) -> str:
    if share is None or math.isnan(share):
        return MISSING
    return f"{100 * share:.{digits}f} %"


def agreement(value: float | None, rule: str) -> str:
    """Return a self-agreement in the unit of its rule: “88 %” of lines, or “τ 0.53”."""
    if rule == AgreementRule.KENDALL and value is not None:
        return f"τ {value:.2f}".replace("-", "−")
    return percent(value)


def along(value: float, axis: float) -> str:
    """Return a value's place on an axis from 0, "" where it is not defined."""
    return "" if math.isnan(value) else f"{100 * value / axis:.2f}%"


def checks_passed(noticed: Noticed) -> str:
    if not noticed.asked:
        return MISSING
    return _("%(passed)d of %(asked)d") % {"passed": noticed.passed, "asked": noticed.asked}


def interval(proportion: Proportion) -> str:
    if math.isnan(proportion.low):
        return MISSING
    return _("%(low).1f to %(high).1f") % {
        "low": 100 * proportion.low,
        "high": 100 * proportion.high,
    }


def check_label(kind: CheckKind | None, *, at_least: float | None = None) -> str:
    """Return the name of a check; None is “any of them”."""
    if kind is None:
        return _("Any of these")
    if kind == CheckKind.REPEATED_GROUP and at_least is not None:
        return _("Repeated group, agreement at least %(percent)s") % {"percent": percent(at_least)}
    return str(kind.label)
