"""What needs a person now: reviews, failed runs, reports to read, slow groups, payments."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, Q
from django.db.models.functions import Coalesce, Greatest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import (
    PAYMENT_PERMISSION,
    ActionState,
    AuditAction,
    AuditEntry,
    PanelAction,
    Study,
    StudyStatus,
)
from annotation.studies.progress import Progress, Waiting
from evaluation.models import Report, ReportStatus
from evaluation.reports.registry import title_of
from evaluation.reports.selectors import visible_reports
from probing.models import RunStatus, ShardStatus
from probing.runs.access import visible_runs

#: Most lines of one sort; what has failed or was built longer ago is no news.
MOST = 3
RECENT = timedelta(days=14)


@dataclass(frozen=True)
class Need:
    """A line with its button; ``css`` is the color and the mark in front of it."""

    css: str
    title: str
    detail: str
    button: str
    address: str


def find_reviews(studies: Mapping[int, Study], waiting: Mapping[int, Waiting]) -> Iterator[Need]:
    """Yield the studies with submissions to review, the longest waiting first. No query."""
    found = [(studies[key], of_study) for key, of_study in waiting.items() if key in studies]
    for study, of_study in found[:MOST]:
        title = ngettext(
            "%(n)s submission waits for review", "%(n)s submissions wait for review", of_study.n
        )
        yield Need(
            "info mark-clock",
            title % {"n": f"{of_study.n:,}"},
            _("%(study)s. The oldest has waited %(time)s.")
            % {"study": study.title, "time": describe_wait(of_study.since)},
            _("Review %(n)s") % {"n": f"{of_study.n:,}"},
            reverse("admin:annotation_submission_queue", args=[study.pk]),
        )


def describe_wait(since: datetime | None) -> str:
    """Return how long ago something was, in its largest whole unit."""
    minutes = int((timezone.now() - since).total_seconds() // 60) if since else 0
    if minutes < 60:
        return _("less than an hour")
    hours = minutes // 60
    if hours < 48:
        return ngettext("%(n)d hour", "%(n)d hours", hours) % {"n": hours}
    return _("%(n)d days") % {"n": hours // 24}


def find_failed_runs(user: User) -> Iterator[Need]:
    """Yield the user's runs that have failed lately and were not resumed. One query."""
    if not user.has_perm("probing.view_run"):
        return
    runs = (
        visible_runs(user)
        .filter(status=RunStatus.FAILED, created_by=user, finished_at__gte=timezone.now() - RECENT)
        .select_related("model")
        .defer("stimuli")
        .annotate(stored=Count("shards", filter=Q(shards__status=ShardStatus.STORED)))
        .order_by("-finished_at")[:MOST]
    )
    for run in runs:
        yield Need(
            "bad mark-cross",
            _("Run %(n)s has failed") % {"n": run.pk},
            _("%(model)s. %(stored)s of %(total)s shards are kept.")
            % {
                "model": run.model.name,
                "stored": f"{run.stored:,}",
                "total": f"{run.shard_count:,}",
            },
            _("Open run %(n)s") % {"n": run.pk},
            reverse("admin:probing_run_change", args=[run.pk]),
        )


def find_unread_reports(user: User) -> list[Report]:
    """Return the user's reports that ended lately and were not opened since. Two queries.

    The audit log knows who has opened a report.
    """
    ended = list(
        visible_reports(user)
        .prefetch_related(None)
        .defer("inputs", "result")
        .annotate(ended_at=Greatest("started_at", Coalesce("built_at", "started_at")))
        .filter(
            created_by=user,
            status__in=[ReportStatus.FINAL, ReportStatus.FAILED],
            ended_at__gte=timezone.now() - RECENT,
        )
        .order_by("-ended_at")[:MOST]
    )
    if not ended:
        return []
    seen: dict[str, datetime] = dict(
        AuditEntry.objects.filter(
            actor=user.get_username(),
            action=AuditAction.VIEWED,
            happened_at__gte=min(report.ended_at for report in ended),
            target__in=[_audit_name(report) for report in ended],
        )
        .order_by("pk")
        .values_list("target", "happened_at")
    )
    return [
        report
        for report in ended
        if _audit_name(report) not in seen or seen[_audit_name(report)] < report.ended_at
    ]


def _audit_name(report: Report) -> str:
    return f"report {report.public_id}"


def describe_reports(reports: Iterable[Report]) -> Iterator[Need]:
    for report in reports:
        failed = report.status == ReportStatus.FAILED
        yield Need(
            "bad mark-cross" if failed else "good mark-tick",
            _("A report could not be built") if failed else _("A report is ready"),
            f"{report.title}. {title_of(report)}.".replace("?.", "?"),
            _("Look at the report") if failed else _("Read the report"),
            reverse("reports:page", args=[report.public_id]),
        )


def find_slow_groups(studies: Iterable[Study], progress: Mapping[int, Progress]) -> Iterator[Need]:
    """Yield the studies that take people and whose groups fill unevenly. No query."""
    slow = [
        (study, progress[study.pk])
        for study in studies
        if study.status == StudyStatus.LIVE and progress[study.pk].slow
    ]
    for study, of_study in slow[:MOST]:
        first, n = of_study.slow[0], len(of_study.slow)
        title = (
            ngettext("%(n)d text fills slowly", "%(n)d texts fill slowly", n)
            if study.rates_texts
            else ngettext("%(n)d group fills slowly", "%(n)d groups fill slowly", n)
        )
        yield Need(
            "warn mark-triangle",
            title % {"n": n},
            _("%(study)s. %(group)s: %(accepted)s of %(wanted)s.")
            % {
                "study": study.title,
                "group": first.group.plural,
                "accepted": f"{first.accepted:,}",
                "wanted": f"{first.wanted:,}",
            },
            _("Open the quotas"),
            reverse("admin:annotation_study_overview", args=[study.pk]) + "#quotas",
        )


def find_payments(user: User, studies: Mapping[int, Study]) -> Iterator[Need]:
    """Yield the studies with payments that a panel refused or never confirmed. One query."""
    if not user.has_perm(PAYMENT_PERMISSION):
        return
    troubled: Any = (
        PanelAction.objects.filter(
            study__in=list(studies), state__in=[ActionState.FAILED, ActionState.UNCLEAR]
        )
        .order_by()
        .values_list("study")
        .annotate(n=Count("pk"))
        .order_by("-n")[:MOST]
    )
    for key, n in troubled:
        title = ngettext("%(n)s payment needs a decision", "%(n)s payments need a decision", n)
        yield Need(
            "warn mark-triangle",
            title % {"n": f"{n:,}"},
            _("%(study)s. The panel refused them, or has not confirmed them.")
            % {"study": studies[key].title},
            _("Open money"),
            reverse("admin:annotation_study_money", args=[key]),
        )
