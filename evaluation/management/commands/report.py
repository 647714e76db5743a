"""``manage.py report alignment``: builds a report here and prints its numbers."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import IO, Any, cast

from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse
from rich.console import Console
from rich.table import Table

from annotation.models import DataDecision, Study
from evaluation.models import Report, ReportStatus
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.document import AlignmentDocument
from evaluation.reports.errors import ReportError
from evaluation.reports.requesting import request_alignment_report
from probing.models import Run, RunStatus


class Command(BaseCommand):
    help = "Builds reports, and checks that a stored one gives the same numbers again."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        kinds = parser.add_subparsers(dest="kind", required=True)
        alignment = kinds.add_parser(
            "alignment", help="People's ratings against a model's scores, per group and overall."
        )
        alignment.add_argument(
            "--study", help="Public id or title of a study; default: the newest with ratings."
        )
        alignment.add_argument(
            "--run", help="Number or public id of a finished run; default: the newest."
        )
        alignment.add_argument("--resamples", type=int, default=2000)
        alignment.add_argument("--splits", type=int, default=1000)
        alignment.add_argument("--seed", type=int, default=0)
        alignment.add_argument(
            "--output", type=Path, metavar="FOLDER", help="Also write the HTML file and all CSVs."
        )
        verify = kinds.add_parser(
            "verify", help="Compute a stored report again and compare every number."
        )
        verify.add_argument("report", help="Public id of the report.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["kind"] == "alignment":
                self._build(options)
            else:
                self._verify(options["report"])
        except ReportError as error:
            raise CommandError(str(error)) from error

    def _build(self, options: dict[str, Any]) -> None:
        study, run = find_study(options["study"]), find_run(options["run"])
        output: Path | None = options["output"]
        if output and output.exists() and not output.is_dir():
            raise CommandError(f"{output} is a file, expected a folder.")
        waiting = request_alignment_report(
            study=study,
            run=run,
            parameters={key: options[key] for key in ("resamples", "splits", "seed")},
        )
        report = build_report(report_id=waiting.pk) or self._wait_for_other_worker(waiting)
        if report.status == ReportStatus.FAILED:
            raise CommandError(f"The report could not be built: {report.error}")
        self._print(report)
        if output:
            output.mkdir(parents=True, exist_ok=True)
            for file in report.files.all():
                (output / file.name).write_bytes(bytes(file.content))
            self.stdout.write(f"Files: {output}")

    @staticmethod
    def _wait_for_other_worker(report: Report) -> Report:
        """A worker may have been faster than this process; its result is as good."""
        import time

        for _ in range(600):
            report.refresh_from_db()
            if report.status in {ReportStatus.FINAL, ReportStatus.FAILED}:
                return report
            time.sleep(0.5)
        raise CommandError("A worker has been building the report for five minutes; look there.")

    def _verify(self, public_id: str) -> None:
        report = Report.objects.filter(public_id=public_id).first()
        if report is None:
            raise CommandError(f"There is no report “{public_id}”.")
        differences = find_differences(report=report)
        if differences:
            raise CommandError("\n".join(["The report differs from what is stored:", *differences]))
        self.stdout.write("Computed again: every number is the same.")

    def _print(self, report: Report) -> None:
        document = AlignmentDocument(report)
        # Wide enough for a log file; a terminal gives its own width.
        console = Console(
            file=cast("IO[str]", self.stdout), width=None if self.stdout.isatty() else 110
        )
        for banner in document.banners:
            console.print(banner, style="bold yellow")
        console.print(f"{document.record['study']['title']}  ×  {document.record['run']['model']}")
        table = Table(box=None, pad_edge=False)
        table.add_column("group")
        for name in ("τ", "95 % interval", "p (Holm)", "P@3", "ceiling", "raters"):
            table.add_column(name, justify="right")
        for row in document.group_rows:
            table.add_row(
                row.name,
                row.tau,
                row.interval,
                row.p_holm,
                row.precision,
                row.ceiling,
                str(row.raters),
            )
        console.print(table)
        for key in document.keys:
            value = f"{key.value} {key.small}".strip()
            console.print(f"{key.label}: {value}  ({'; '.join(key.lines)})", highlight=False)
        for line in document.left_out:
            console.print(f"Left out: {line}", highlight=False)
        page = reverse("reports:page", args=[report.public_id])
        console.print(f"Report {report.public_id}: {page}", highlight=False)


def find_study(name: str | None) -> Study:
    """Return the study of that public id or title, or the newest one with accepted ratings."""
    rated = Study.objects.filter(submissions__data_decision=DataDecision.ACCEPTED).distinct()
    if name is None:
        study = rated.order_by("-pk").first()
        if study is None:
            raise ReportError(
                "No study has accepted ratings yet. Collect some, or import published ones with "
                "“manage.py import_abc_ratings FILE”."
            )
        return study
    found = list(Study.objects.filter(public_id=name)) or list(Study.objects.filter(title=name))
    if len(found) != 1:
        known = ", ".join(f"{study.public_id} ({study.title})" for study in rated[:10])
        what = f"{len(found)} studies are called" if found else "There is no study"
        raise ReportError(f"{what} “{name}”. Studies with ratings: {known or 'none'}.")
    return found[0]


def find_run(name: str | None) -> Run:
    """Return the run of that number or public id, or the newest finished one."""
    if name is None:
        run = Run.objects.filter(status=RunStatus.FINISHED).select_related("model").first()
        if run is None:
            raise ReportError("No run is finished yet. Start one with “manage.py probe”.")
        return run
    query = {"pk": int(name)} if name.isdigit() else {"public_id": name}
    found = Run.objects.filter(**query).select_related("model").first()
    if found is None:
        raise ReportError(f"There is no run “{name}”.")
    if found.status != RunStatus.FINISHED:
        raise ReportError(
            f"{found} is {found.get_status_display().lower()}, expected a finished run."
        )
    return found
