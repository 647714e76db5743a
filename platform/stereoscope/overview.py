"""The first page after the log-in: what runs, what waits for somebody, what is new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.safestring import SafeString

from annotation.models import (
    SURVEY_KINDS,
    DataDecision,
    Origin,
    Study,
    StudyKind,
    StudyStatus,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.researcher.pages.formatting import study_badge
from evaluation.admin.report import report_badge
from evaluation.models import Report
from evaluation.reports.registry import headline, title_of
from evaluation.reports.selectors import visible_reports
from probing.admin.run_labels import run_badge
from probing.models import Run, ShardStatus

SHOWN = 6
STUDY_PAGES: dict[str, str] = {
    StudyKind.ABC_SURVEY: "admin:annotation_study_overview",
    StudyKind.GUISE_RATING: "admin:annotation_study_overview",
    StudyKind.COUNTERPART_WRITING: "admin:annotation_writingstudy_overview",
    StudyKind.COUNTERPART_JUDGMENT: "admin:annotation_judgmentstudy_overview",
}


@dataclass(frozen=True)
class StudyLine:
    study: Study
    badge: SafeString
    accepted: int
    waiting: int

    @property
    def address(self) -> str:
        """Where the study's main page is, "" for a kind without one."""
        try:
            return reverse(STUDY_PAGES[self.study.kind], args=[self.study.pk])
        except NoReverseMatch:
            return ""

    @property
    def has_ratings(self) -> bool:
        return self.study.kind in SURVEY_KINDS

    @property
    def is_simulated(self) -> bool:
        return self.study.origin == Origin.SIMULATED


@dataclass(frozen=True)
class RunLine:
    run: Run
    badge: SafeString
    stored: int


@dataclass(frozen=True)
class ReportLine:
    report: Report
    badge: SafeString
    kind: str
    headline: str


def add_overview(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the newest studies, runs and reports to the index of the admin. Three queries."""
    context["study_lines"] = load_studies(request)
    context["run_lines"] = load_runs() if request.user.has_perm("probing.view_run") else []
    context["report_lines"] = load_reports(request)
    return context


def load_studies(request: HttpRequest) -> list[StudyLine]:
    """Return the newest studies that the user may see, archived ones left out. One query."""
    waiting = Q(
        submissions__state=SubmissionState.FINISHED,
        submissions__data_decision=DataDecision.WAITING,
    ) & ~Q(submissions__origin=SubmissionOrigin.PREVIEW)
    accepted = Q(submissions__data_decision=DataDecision.ACCEPTED, submissions__is_counted=True)
    studies = (
        Study.objects.visible_to(request.user)
        .exclude(status=StudyStatus.ARCHIVED)
        .annotate(
            n_accepted=Count("submissions", filter=accepted),
            n_waiting=Count("submissions", filter=waiting),
        )
        .order_by("-pk")[:SHOWN]
    )
    return [
        StudyLine(study, study_badge(study), study.n_accepted, study.n_waiting) for study in studies
    ]


def load_runs() -> list[RunLine]:
    """Return the newest runs. One query."""
    runs = (
        Run.objects.select_related("model")
        .defer("stimuli")
        .annotate(n_stored=Count("shards", filter=Q(shards__status=ShardStatus.STORED)))
        .order_by("-pk")[:SHOWN]
    )
    return [RunLine(run, run_badge(run), run.n_stored) for run in runs]


def load_reports(request: HttpRequest) -> list[ReportLine]:
    """Return the newest reports that the user may see. One query."""
    return [
        ReportLine(report, report_badge(report), title_of(report), headline(report))
        for report in visible_reports(request.user).prefetch_related(None).order_by("-pk")[:SHOWN]
    ]
