"""The first page after the log-in, ready for its template."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, Greatest
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.models import (
    PAYMENT_PERMISSION,
    SURVEY_KINDS,
    ActionState,
    AuditAction,
    AuditEntry,
    Origin,
    PanelAction,
    Study,
    StudyKind,
    StudyStatus,
)
from annotation.researcher.pages import formatting
from annotation.researcher.pages.page import staff_user
from annotation.studies.progress import Progress, Waiting, count_waiting, load_progress
from evaluation.admin.report import report_badge
from evaluation.models import Report, ReportStatus
from evaluation.reports.registry import headline, title_of
from evaluation.reports.selectors import visible_reports
from probing.admin.run_charts import run_badge
from probing.measures.registry import MEASURES
from probing.models import Run, RunStatus, ShardStatus
from probing.runs.access import visible_runs
from stereoscope.overview.first_steps import describe_first_steps

# --- What needs a person now: reviews, failed runs, reports to read, slow groups, payments

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


# --- The first page

SHOWN = 6
SHOWN_RUNS = SHOWN_REPORTS = 4
MODEL_NAMES: dict[str, str] = {
    StudyKind.ABC_SURVEY: "study",
    StudyKind.GUISE_RATING: "study",
    StudyKind.COUNTERPART_WRITING: "writingstudy",
    StudyKind.COUNTERPART_JUDGMENT: "judgmentstudy",
}
#: Studies at work first, those that are over last.
ORDER = (
    StudyStatus.LIVE,
    StudyStatus.PILOTING,
    StudyStatus.PAUSED,
    StudyStatus.DRAFT,
    StudyStatus.CLOSED,
)


@dataclass(frozen=True)
class StudyLine:
    """A study with what it has, and the link to what comes next."""

    study: Study
    badge: SafeString
    progress: Progress
    waiting: int
    spent: str
    next_label: str
    next_address: str

    @property
    def address(self) -> str:
        return study_address(self.study, "overview")

    @property
    def bar(self) -> str:
        """Width of the bar in percent."""
        return f"{100 * self.progress.share:.1f}"

    @property
    def is_simulated(self) -> bool:
        return self.study.origin == Origin.SIMULATED


@dataclass(frozen=True)
class RunLine:
    run: Run
    measure: str
    badge: SafeString
    stored: int

    @property
    def bar(self) -> str:
        return f"{100 * self.stored / self.run.shard_count:.1f}" if self.run.shard_count else "0"


@dataclass(frozen=True)
class ReportLine:
    report: Report
    badge: SafeString
    kind: str
    headline: str


def study_address(study: Study, page: str) -> str:
    """Return the address of a page of a study, whatever its kind."""
    return reverse(f"admin:annotation_{MODEL_NAMES[study.kind]}_{page}", args=[study.pk])


def add_overview(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add to the index of the admin what needs the user, first steps, and what is new.

    Some thirty queries, whatever the size of the installation.
    """
    user = staff_user(request)
    known = Study.objects.visible_to(user).exclude(status=StudyStatus.ARCHIVED)
    shown = list(_newest(known))
    waiting = count_waiting(known)
    progress = load_progress(shown)
    unread = find_unread_reports(user)
    surveys = Study.objects.reviewable_by(user).surveys().exclude(status=StudyStatus.ARCHIVED)
    reviewed = {study.pk: study for study in surveys.only("title", "kind")}
    changeable = set(Study.objects.changeable_by(user).values_list("pk", flat=True))
    paid = {key: study for key, study in reviewed.items() if key in changeable}
    may_report = user.has_perm("evaluation.add_report")
    context |= {
        "now": timezone.now(),
        "needs": [
            *find_reviews(reviewed, waiting),
            *find_failed_runs(user),
            *describe_reports(unread),
            *find_slow_groups([study for study in shown if study.pk in changeable], progress),
            *find_payments(user, paid),
        ],
        "study_lines": [
            _describe_study(
                study,
                progress[study.pk],
                waiting[study.pk].n if study.pk in waiting else 0,
                may_review=study.pk in reviewed,
                may_change=study.pk in changeable,
                may_report=may_report,
            )
            for study in shown
        ],
        "n_studies": known.count(),
        "may_create": user.has_perm("annotation.add_study"),
        "may_see_runs": user.has_perm("probing.view_run"),
        "may_see_reports": user.has_perm("evaluation.view_report"),
        "may_run": user.has_perm("probing.add_run"),
        "may_report": may_report,
        "report_lines": _load_reports(user, {report.pk for report in unread}),
        **describe_first_steps(request, user),
    }
    context["run_lines"] = _load_runs(user) if context["may_see_runs"] else []
    return context


def _newest(studies: QuerySet[Study]) -> QuerySet[Study]:
    rank = Case(
        *(When(status=status, then=Value(place)) for place, status in enumerate(ORDER)),
        default=Value(len(ORDER)),
        output_field=IntegerField(),
    )
    return studies.order_by(rank, "-pk")[:SHOWN]


def _describe_study(
    study: Study,
    progress: Progress,
    waiting: int,
    *,
    may_review: bool,
    may_change: bool,
    may_report: bool,
) -> StudyLine:
    spent = ""
    if study.kind in SURVEY_KINDS and study.reward_cents and study.origin != Origin.IMPORTED:
        spent = formatting.money(progress.approved * study.reward_cents, study.currency)
    label, address = "", study_address(study, "overview")
    if waiting and may_review:
        label = _("Review %(n)s") % {"n": f"{waiting:,}"}
        address = reverse("admin:annotation_submission_queue", args=[study.pk])
    elif study.status == StudyStatus.DRAFT:
        label = _("Check and launch") if may_change else ""
    elif study.status == StudyStatus.PILOTING:
        label = _("Look at the pilot")
    elif study.status == StudyStatus.PAUSED:
        label = _("Resume or close") if may_change else ""
    elif study.status == StudyStatus.LIVE and progress.wanted and progress.share == 1:
        label = _("All in: close it") if may_change else _("All in")
    elif study.status == StudyStatus.CLOSED and may_report and progress.accepted:
        label = _("Build a report")
        address = f"{reverse('admin:evaluation_report_add')}?study={study.pk}"
    return StudyLine(study, formatting.study_badge(study), progress, waiting, spent, label, address)


def _load_runs(user: User) -> list[RunLine]:
    """Return the newest runs. One query."""
    runs = (
        visible_runs(user)
        .select_related("model")
        .defer("stimuli")
        .annotate(n_stored=Count("shards", filter=Q(shards__status=ShardStatus.STORED)))
        .order_by("-pk")[:SHOWN_RUNS]
    )
    return [
        RunLine(
            run,
            str(MEASURES[run.measure].title) if run.measure in MEASURES else run.measure,
            run_badge(run),
            run.n_stored,
        )
        for run in runs
    ]


def _load_reports(user: User, unread: set[int]) -> list[ReportLine]:
    """Return the newest reports that the user may see. One query."""
    reports = (
        visible_reports(user).prefetch_related(None).defer("inputs").order_by("-pk")[:SHOWN_REPORTS]
    )
    new = formatting.badge("info mark-tick", _("New"))
    return [
        ReportLine(
            report,
            new
            if report.pk in unread and report.status == ReportStatus.FINAL
            else report_badge(report),
            title_of(report),
            headline(report),
        )
        for report in reports
    ]
