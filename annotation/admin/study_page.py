"""What the main page of a study shows, in words and places, ready for its template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.admin import wording
from annotation.admin.drawing import Box, draw_histogram, draw_slots
from annotation.models import (
    DataDecision,
    Origin,
    Panel,
    Study,
    StudyStatus,
    Submission,
    SubmissionState,
)
from annotation.studies.access import PAYMENT_PERMISSION, can_change_study
from annotation.studies.lifecycle import find_launch_problems
from annotation.studies.noticing import Noticed, notice_submissions
from annotation.studies.overview import Overview, load_overview
from annotation.studies.quotas import GroupQuota

WAITING_ROWS = 5
REFRESHED = {StudyStatus.PILOTING, StudyStatus.LIVE, StudyStatus.PAUSED}
CHECK_AXIS = 0.5  # the intervals of checks are drawn from 0 to at least this share
PROLIFIC_QUERY = (
    "?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
)


@dataclass(frozen=True)
class Key:
    """A number that the page is about: value and unit pairs, then a sentence."""

    label: str
    parts: Sequence[tuple[str, str]]
    note: str


@dataclass(frozen=True)
class StageRow:
    label: str
    count: int
    share: str
    width: str
    css: str


@dataclass(frozen=True)
class QuotaRow:
    quota: GroupQuota
    boxes: Sequence[Box]
    text: str
    more: str


@dataclass(frozen=True)
class CheckRow:
    label: str
    failed: int
    n: int
    share: str
    interval: str
    low: str
    high: str
    middle: str
    is_total: bool


@dataclass(frozen=True)
class WaitingRow:
    noticed: Noticed
    time: str
    checks: str
    agreement: str
    badge: str


def page_context(study: Study, user: User) -> dict[str, Any]:
    """Return the context of the whole page: the live part and what stays."""
    may_change = can_change_study(user, study)
    return {
        **live_context(study, user, may_change=may_change),
        "is_imported": study.origin == Origin.IMPORTED,
        "participant_link": participant_link(study),
        "may_export_payments": may_change and user.has_perm(PAYMENT_PERMISSION),
        "launch_problems": find_launch_problems(study) if study.status == StudyStatus.DRAFT else [],
        "source_lines": study.source.splitlines(),
    }


def live_context(study: Study, user: User, *, may_change: bool | None = None) -> dict[str, Any]:
    """Return what changes while people rate. Ten queries, whatever the size of the study."""
    overview = load_overview(study)
    waiting = list(
        Submission.objects.filter(
            study=study, state=SubmissionState.FINISHED, data_decision=DataDecision.WAITING
        ).order_by("finished_at", "pk")[:WAITING_ROWS]
    )
    noticed = notice_submissions(waiting, fast_limit=overview.fast_limit)
    histogram = (
        draw_histogram(
            overview.durations, median=overview.median_seconds, fast_limit=overview.fast_limit
        )
        if overview.median_seconds is not None
        else None
    )
    axis = _check_axis(overview)
    return {
        "study": study,
        "overview": overview,
        "counts": overview.counts,
        "is_refreshed": study.status in REFRESHED,
        "may_change": can_change_study(user, study) if may_change is None else may_change,
        "status_badge": wording.study_badge(study),
        "origin_badge": wording.origin_badge(study),
        "keys": build_keys(overview),
        "stages": build_stage_rows(overview),
        "quota_rows": [_build_quota_row(quota) for quota in overview.quotas],
        "slow_groups": [quota.group.plural for quota in overview.slow_groups],
        "check_rows": _build_check_rows(overview, axis),
        "check_axis": wording.percent(axis),
        "histogram": histogram,
        "median_text": wording.duration(overview.median_seconds),
        "limit_text": wording.duration(overview.fast_limit),
        "waiting_rows": [build_waiting_row(item) for item in noticed],
    }


def participant_link(study: Study) -> str:
    """Return the full link for participants; for Prolific with the parameters that it fills in."""
    link = f"{settings.SITE_URL}{reverse('survey:landing', args=[study.public_id])}"
    return f"{link}{PROLIFIC_QUERY}" if study.panel == Panel.PROLIFIC else link


def build_keys(overview: Overview) -> list[Key]:
    if overview.study.origin == Origin.IMPORTED:
        return _build_imported_keys(overview)
    return [
        _build_ratings_key(overview),
        _build_now_key(overview),
        _build_time_key(overview),
        _build_cost_key(overview),
    ]


def _build_ratings_key(overview: Overview) -> Key:
    people = overview.counts.accepted
    note = ngettext(
        "%(n)d person, one rating for each group that was rated.",
        "%(n)d people, one rating for each group that was rated.",
        people,
    ) % {"n": people}
    missing = overview.ratings_missing
    more = (
        ngettext("%(n)s rating is missing.", "%(n)s ratings are missing.", missing)
        % {"n": f"{missing:,}"}
        if missing
        else _("Every group is full.")
    )
    return Key(
        _("Accepted ratings of groups"),
        [
            (
                f"{overview.ratings_accepted:,}",
                _("of %(n)s wanted") % {"n": f"{overview.ratings_wanted:,}"},
            )
        ],
        f"{note} {more}" if people else more,
    )


def _build_now_key(overview: Overview) -> Key:
    now, held = overview.counts.rating_now, overview.places_held
    minutes = overview.study.reservation_minutes
    note = (
        ngettext(
            "%(held)d place is held for %(minutes)d minutes.",
            "%(held)d places are held for %(minutes)d minutes.",
            held,
        )
        % {"held": held, "minutes": minutes}
        if held
        else _("No place is held.")
    )
    return Key(_("Rating now"), [(f"{now:,}", ngettext("person", "people", now))], note)


def _build_time_key(overview: Overview) -> Key:
    if overview.median_seconds is None:
        return Key(_("Time to finish"), [(wording.MISSING, "")], _("Nobody has finished yet."))
    note = _("Median of %(n)s.") % {"n": f"{len(overview.durations):,}"}
    if overview.cents_an_hour is not None:
        pay = wording.money(overview.cents_an_hour, overview.study.currency)
        note += " " + _("That pays %(pay)s an hour.") % {"pay": pay}
    return Key(_("Time to finish"), wording.duration_parts(overview.median_seconds), note)


def _build_cost_key(overview: Overview) -> Key:
    study, counts = overview.study, overview.counts
    if not study.reward_cents:
        return Key(_("Cost so far"), [(wording.MISSING, "")], _("The study pays no reward."))
    notes = [_("Rewards approved, without the panel’s fees.")]
    if counts.pay_waiting:
        waiting = wording.money(overview.cents_waiting, study.currency)
        notes.append(_("%(money)s wait for a decision.") % {"money": waiting})
    if counts.accepted:
        each = wording.money(overview.cents_approved / counts.accepted, study.currency)
        notes.append(_("%(money)s an accepted person.") % {"money": each})
    return Key(
        _("Cost so far"),
        [(wording.money(overview.cents_approved, study.currency), "")],
        " ".join(notes),
    )


def _build_imported_keys(overview: Overview) -> list[Key]:
    groups = len(overview.quotas)
    counts = [quota.accepted for quota in overview.quotas]
    scales = overview.instrument.scales.count() if overview.instrument else 0
    return [
        Key(
            _("People"),
            [(f"{overview.counts.accepted:,}", "")],
            _("Everyone in the file counts as accepted."),
        ),
        Key(
            _("Ratings of groups"),
            [(f"{overview.ratings_accepted:,}", "")],
            _("One for each person and group."),
        ),
        Key(
            _("Groups"),
            [(str(groups), "")],
            _("Rated by %(low)d to %(high)d people each.")
            % {"low": min(counts, default=0), "high": max(counts, default=0)},
        ),
        Key(_("Trait scales"), [(str(scales), "")], _("From 0 to 100, the low pole at 0.")),
    ]


def build_stage_rows(overview: Overview) -> list[StageRow]:
    most = max(1, overview.stages[0].count)
    return [
        StageRow(
            label=str(wording.STAGE_LABELS[stage.key]),
            count=stage.count,
            share="" if stage.share is None else wording.percent(stage.share),
            width=f"{100 * stage.count / most:.2f}%",
            css="mark-full" if stage.key == "accepted" else "mark-part",
        )
        for stage in overview.stages
    ]


def _build_quota_row(quota: GroupQuota) -> QuotaRow:
    waiting = quota.in_review + quota.in_progress
    return QuotaRow(
        quota=quota,
        boxes=draw_slots(quota),
        text=_("full") if quota.accepted == quota.wanted else str(quota.accepted),
        more=f"+ {waiting}" if waiting and quota.accepted != quota.wanted else "",
    )


def _check_axis(overview: Overview) -> float:
    """Return the end of the axis of failed shares: a half, or the whole where one is beyond."""
    return 1.0 if any(result.failed.high > CHECK_AXIS for result in overview.checks) else CHECK_AXIS


def _build_check_rows(overview: Overview, axis: float) -> list[CheckRow]:
    at_least = overview.instrument.agreement_at_least if overview.instrument else None
    return [
        CheckRow(
            label=wording.check_label(result.kind, at_least=at_least),
            failed=result.failed.count,
            n=result.failed.n,
            share=wording.percent(result.failed.share, digits=1),
            interval=wording.interval(result.failed),
            low=_along(result.failed.low, axis),
            high=_along(result.failed.high, axis),
            middle=_along(result.failed.share, axis),
            is_total=result.kind is None,
        )
        for result in overview.checks
    ]


def _along(share: float, axis: float) -> str:
    """Return a share's place on the axis, "" where it is not defined."""
    return f"{100 * share / axis:.2f}%" if share == share else ""


def build_waiting_row(noticed: Noticed) -> WaitingRow:
    agreement = noticed.submission.self_agreement
    return WaitingRow(
        noticed=noticed,
        time=wording.duration(noticed.seconds),
        checks=_("%(passed)d of %(asked)d") % {"passed": noticed.passed, "asked": noticed.asked}
        if noticed.asked
        else wording.MISSING,
        agreement=wording.percent(agreement),
        badge=wording.proposal_badge(noticed.proposal),
    )
