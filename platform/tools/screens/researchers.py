"""The main pages of researchers: studies, people, instruments, money, models, runs, reports."""

from __future__ import annotations

import time

from django.urls import reverse
from playwright.sync_api import Browser

from annotation.models import Corpus, Study
from evaluation.models import Report, ReportStatus
from evaluation.reports.registry import title_of
from probing.models import Run, RunStatus
from stereoscope.demo.names import PEOPLE_ID
from stereoscope.local.preparation import NAME
from tools.screens.camera import DESKTOP, Camera
from tools.screens.further import Further
from tools.screens.installation import Installation

PATIENCE_SECONDS = 240.0


def take_researchers(
    browser: Browser,
    camera: Camera,
    demo: Installation,
    tour: Study,
    *annotated: Study,
    further: Further,
) -> None:
    page = browser.new_context(viewport=DESKTOP, locale="en-US").new_page()  # type: ignore[arg-type]
    page.goto(demo.address + reverse("admin:login"))
    camera.take(page, "researcher", "login", "Log-in")
    page.locator("[name=username]").fill(NAME)
    page.locator("[name=password]").fill(demo.password)
    page.locator("form [type=submit]").click()
    page.wait_for_url(f"**{reverse('admin:index')}")
    for name, title, address in (*list_pages(tour, *annotated), *list_further(further)):
        page.goto(demo.address + address)
        page.wait_for_load_state("networkidle")
        camera.take(page, "researcher", name, title)
    page.context.close()


def list_pages(tour: Study, writing: Study, judgments: Study) -> list[tuple[str, str, str]]:
    """Return name, title and address of each page."""
    people = Study.objects.get(public_id=PEOPLE_ID)
    submission = people.submissions.order_by("pk").first()
    instrument, report = tour.instruments.get(), _wait_for_report()

    def admin(name: str, *args: object) -> str:
        return reverse(f"admin:{name}", args=args)

    queue = admin("annotation_submission_queue", people.pk)
    return [
        ("start", "Start", admin("index")),
        ("studies", "Studies", admin("annotation_study_changelist")),
        ("gallery", "New study", admin("annotation_study_gallery")),
        ("study", "Study: overview", admin("annotation_study_overview", people.pk)),
        ("settings", "Study: settings", admin("annotation_study_change", tour.pk)),
        ("instrument", "Instrument", admin("annotation_instrument_change", instrument.pk)),
        (
            "languages",
            "Instrument: languages",
            admin("annotation_instrument_languages", instrument.pk),
        ),
        ("money", "Study: money", admin("annotation_study_money", tour.pk)),
        ("queue", "Study: submissions", f"{queue}?show=all"),
        ("review", "Review", admin("annotation_submission_change", submission and submission.pk)),
        ("writing", "Writing study", admin("annotation_writingstudy_overview", writing.pk)),
        ("judging", "Judgment study", admin("annotation_judgmentstudy_overview", judgments.pk)),
        ("corpus", "Corpus", admin("annotation_corpus_overview", Corpus.objects.earliest("pk").pk)),
        ("groups", "Social groups", admin("annotation_socialgroup_changelist")),
        ("models", "Language models", admin("probing_languagemodel_changelist")),
        ("runs", "Runs", admin("probing_run_changelist")),
        ("run", "Run", admin("probing_run_change", Run.objects.earliest("pk").pk)),
        ("reports", "Reports", admin("evaluation_report_changelist")),
        ("report", "Report", reverse("reports:page", args=[report.public_id])),
    ]


def list_further(further: Further) -> list[tuple[str, str, str]]:
    """Return the pages of newer kinds of studies, runs and reports, and of accounts."""
    _wait_for_run(further.training)
    speakers = further.speakers.pk
    people = Study.objects.get(public_id=PEOPLE_ID)
    pages = [
        (
            "new-speakers",
            "New study of speakers",
            f"{reverse('admin:annotation_study_add')}?kind=guise_rating",
        ),
        (
            "speakers",
            "Study of speakers",
            reverse("admin:annotation_study_overview", args=[speakers]),
        ),
        ("new-run", "New run", reverse("admin:probing_run_add")),
        ("training", "Training", reverse("admin:probing_run_change", args=[further.training.pk])),
        ("import", "Import", reverse("admin:probing_run_import")),
        ("audit", "Audit log", reverse("admin:annotation_study_audit", args=[people.pk])),
        ("tokens", "API tokens", reverse("admin:stereoscope_apitoken_changelist")),
        ("second-factor", "Second factor", reverse("security")),
    ]
    pages += [
        (f"report-{report.kind}", f"Report: {title_of(report)}", _report_page(report))
        for report in further.reports
    ]
    return pages


def _report_page(report: Report) -> str:
    return reverse("reports:page", args=[report.public_id])


def _wait_for_run(run: Run) -> None:
    """Wait until the worker has finished a run."""
    end = time.monotonic() + PATIENCE_SECONDS
    while run.status != RunStatus.FINISHED:
        if time.monotonic() > end or run.status == RunStatus.FAILED:
            raise RuntimeError(f"{run} is {run.status}.")
        time.sleep(1)
        run.refresh_from_db()


def _wait_for_report() -> Report:
    """Return the demo's report once the worker has built it."""
    end = time.monotonic() + PATIENCE_SECONDS
    report = Report.objects.earliest("pk")
    while report.status != ReportStatus.FINAL:
        if time.monotonic() > end or report.status == ReportStatus.FAILED:
            raise RuntimeError(f"The demo's report is {report.status}.")
        time.sleep(1)
        report.refresh_from_db()
    return report
