"""Numbers and states of studies in the words of the pages."""

from __future__ import annotations

import math
from decimal import Decimal

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

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
from annotation.studies.noticing import Proposal
from annotation.studies.proportions import Proportion
from annotation.survey.money import format_money, round_minor

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


def duration_parts(seconds: float) -> list[tuple[str, str]]:
    """Return a time as numbers with their units: 705 is 11 min 45 s, 3725 is 1 h 02 min."""
    whole = round(seconds)
    if whole < 60:
        return [(str(whole), _("s"))]
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return [(str(minutes), _("min")), (f"{rest:02d}", _("s"))]
    hours, minutes = divmod(minutes, 60)
    return [(str(hours), _("h")), (f"{minutes:02d}", _("min"))]


def duration(seconds: float | None) -> str:
    if seconds is None:
        return MISSING
    return " ".join(f"{number} {unit}" for number, unit in duration_parts(seconds))


def money(minor: float, currency: str) -> str:
    """Return an amount with its sign, “$684.63”, or with its code, “684.63 CHF”.

    A mean is rounded to the smallest unit, halves up.
    """
    return format_money(round_minor(Decimal(str(minor))), currency)


def percent(share: float | None, *, digits: int = 0) -> str:
    if share is None or math.isnan(share):
        return MISSING
    return f"{100 * share:.{digits}f} %"


def agreement(value: float | None, rule: str) -> str:
    """Return a self-agreement in the unit of its rule: “88 %” of lines, or “τ 0.53”."""
    if rule == AgreementRule.KENDALL and value is not None:
        return f"τ {value:.2f}".replace("-", "−")
    return percent(value)


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
