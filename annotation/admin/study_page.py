"""What the main page of a study shows, in words and places, ready for its template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.admin import wording
from annotation.admin.dashboard_page import dashboard_context
from annotation.admin.drawing import Box, draw_histogram, draw_slots
from annotation.admin.margin_figures import margins_context
from annotation.admin.readiness_links import link_findings
from annotation.admin.study_keys import build_keys
from annotation.models import (
    DataDecision,
    Origin,
    Study,
    StudyStatus,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.panels.registry import get_panel
from annotation.panels.study_settings import load_panel_settings
from annotation.studies.access import PAYMENT_PERMISSION, can_change_study
from annotation.studies.dashboard import load_dashboard
from annotation.studies.lifecycle import current_instrument
from annotation.studies.noticing import Noticed, notice_submissions
from annotation.studies.overview import Overview, load_overview
from annotation.studies.piloting import count_pilot
from annotation.studies.quotas import GroupQuota
from annotation.studies.readiness import examine_study
from annotation.studies.scope import EXTRA_ORIGINS, in_scope

WAITING_ROWS = 5
REFRESHED = {StudyStatus.PILOTING, StudyStatus.LIVE, StudyStatus.PAUSED}
CHECK_AXIS = 0.5  # the intervals of checks are drawn from 0 to at least this share


@dataclass(frozen=True)
class StageRow:
    label: str
    count: int
    share: str
    width: str
    css: str


@dataclass(frozen=True)
class QuotaRow:
    """``rated`` of those being rated have sent the group's page, for ``held`` a place is kept."""

    quota: GroupQuota
    boxes: Sequence[Box]
    text: str
    more: str
    rated: int
    held: int
    to_go: int
    beyond: int


@dataclass(frozen=True)
class CheckRow:
    label: str
    failed: int
    n: int
    not_asked: int
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
    instrument = current_instrument(study) if study.status == StudyStatus.DRAFT else None
    findings = link_findings(examine_study(study, instrument), study) if instrument else []
    return {
        **live_context(study, user, may_change=may_change),
        "is_imported": study.origin == Origin.IMPORTED,
        "participant_link": participant_link(study),
        "may_export_payments": may_change and user.has_perm(PAYMENT_PERMISSION),
        "launch_problems": [finding for finding in findings if finding.blocks],
        "launch_thoughts": [finding for finding in findings if not finding.blocks],
        "export_scopes": list_export_scopes(study),
        "source_lines": study.source.splitlines(),
    }


def live_context(study: Study, user: User, *, may_change: bool | None = None) -> dict[str, Any]:
    """Return what changes while people rate. Some twenty queries, whatever its size."""
    overview = load_overview(study)
    dashboard = load_dashboard(study, overview.instruments)
    waiting = list(
        Submission.objects.filter(
            in_scope(study),
            study=study,
            state=SubmissionState.FINISHED,
            data_decision=DataDecision.WAITING,
        ).order_by("finished_at", "pk")[:WAITING_ROWS]
    )
    noticed = notice_submissions(waiting, fast_limit=overview.fast_limit)
    axis = _check_axis(overview)
    return {
        "study": study,
        "pilot": count_pilot(study) if study.pilot_started_at else None,
        "overview": overview,
        "counts": overview.counts,
        "is_refreshed": study.status in REFRESHED,
        "may_change": can_change_study(user, study) if may_change is None else may_change,
        "status_badge": wording.study_badge(study),
        "origin_badge": wording.origin_badge(study),
        "keys": build_keys(overview),
        "stages": build_stage_rows(overview),
        "quota_rows": [
            _build_quota_row(quota, begun=dashboard.begun.get(quota.group.slug, 0))
            for quota in overview.quotas
        ],
        "has_beyond": any(quota.taken > quota.wanted for quota in overview.quotas),
        "slow_groups": [quota.group.plural for quota in overview.slow_groups],
        "check_rows": _build_check_rows(overview, axis),
        "check_axis": wording.percent(axis),
        "waiting_rows": [build_waiting_row(item) for item in noticed],
        **_time_context(overview),
        **dashboard_context(overview, dashboard),
        **margins_context(overview),
    }


def _time_context(overview: Overview) -> dict[str, Any]:
    """Return the drawing of times and the words for what it marks."""
    quartiles = overview.quartiles_seconds
    histogram = None
    if overview.median_seconds is not None:
        histogram = draw_histogram(
            overview.durations,
            median=overview.median_seconds,
            fast_limit=overview.fast_limit,
            quartiles=quartiles,
        )
    low, high = quartiles or (None, None)
    return {
        "histogram": histogram,
        "median_text": wording.duration(overview.median_seconds),
        "quartile_texts": [wording.duration(low), wording.duration(high)] if quartiles else [],
        "limit_text": wording.duration(overview.fast_limit),
    }


def list_export_scopes(study: Study) -> list[tuple[str, str]]:
    """Return what exports can hold: a part of the address, and a name. One query."""
    found = set(study.submissions.filter(origin__in=EXTRA_ORIGINS).values_list("origin", flat=True))
    names = {
        SubmissionOrigin.PILOT: _("with the pilot"),
        SubmissionOrigin.PREVIEW: _("with previews"),
    }
    return [(origin.value, names[origin]) for origin in EXTRA_ORIGINS if origin in found]


def participant_link(study: Study) -> str:
    """Return the full link for participants, with the parameters that the panel fills in."""
    link = f"{settings.SITE_URL}{reverse('survey:landing', args=[study.public_id])}"
    return link + get_panel(study.panel).link_query(load_panel_settings(study))


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


def _build_quota_row(quota: GroupQuota, *, begun: int) -> QuotaRow:
    waiting = quota.in_review + quota.in_progress
    # A visit that goes on after its end has been read once can be counted in one of the two.
    rated = min(begun, quota.in_progress)
    return QuotaRow(
        quota=quota,
        boxes=draw_slots(quota),
        text=_("full") if quota.accepted == quota.wanted else str(quota.accepted),
        more=f"+ {waiting}" if waiting and quota.accepted != quota.wanted else "",
        rated=rated,
        held=quota.in_progress - rated,
        to_go=max(0, quota.wanted - quota.accepted),
        beyond=max(0, quota.taken - quota.wanted),
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
            not_asked=result.not_asked,
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
    return WaitingRow(
        noticed=noticed,
        time=wording.duration(noticed.seconds),
        checks=_("%(passed)d of %(asked)d") % {"passed": noticed.passed, "asked": noticed.asked}
        if noticed.asked
        else wording.MISSING,
        agreement=wording.agreement(noticed.submission.self_agreement, noticed.agreement_rule),
        badge=wording.proposal_badge(noticed.proposal),
    )
