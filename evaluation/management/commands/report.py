"""``manage.py report KIND``: builds a report here and prints its numbers."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, cast

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError
from django.db.models import QuerySet
from django.urls import reverse
from rich.console import Console
from rich.table import Table as RichTable

from annotation.models import Corpus, Study
from evaluation.models import Report, ReportStatus
from evaluation.reports.building import build_report, find_differences
from evaluation.reports.parts.document import Document, Table
from evaluation.reports.parts.errors import ReportError
from evaluation.reports.parts.kind import ReportKind, StudyInput
from evaluation.reports.registry import KINDS, get_kind
from evaluation.reports.requesting import request_report
from evaluation.reports.selectors import fitting_measures, visible_reports
from evaluation.reports.shared_views import USUAL_DAYS, open_shares, revoke_share, share_report
from probing.models import Run, RunStatus

# Columns of running text are for pages; a terminal shows this much of them.
LONGEST_CELL = 60
# Options of this format are whole tables: forms take their text, the command line a file.
FILE_FORMAT = "csv"


class Command(BaseCommand):
    help = "Builds reports, and checks that a stored one gives the same numbers again."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        commands = parser.add_subparsers(dest="kind", required=True)
        for kind in KINDS.values():
            _add_kind(commands, kind)
        verify = commands.add_parser(
            "verify", help="Compute a stored report again and compare every number."
        )
        verify.add_argument("report", help="Public id of the report.")
        share = commands.add_parser(
            "share", help="Make a link that opens a report without an account; it is shown once."
        )
        share.add_argument("report", help="Public id of the report.")
        share.add_argument(
            "--account", required=True, help="Whose link it is: it opens what this account sees."
        )
        share.add_argument("--days", type=int, default=USUAL_DAYS, help="Default: %(default)s.")
        revoke = commands.add_parser("revoke", help="End all open links of a report now.")
        revoke.add_argument("report", help="Public id of the report.")
        revoke.add_argument("--account", required=True, help="Who ends them, for the audit log.")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["kind"] == "verify":
                self._verify(options["report"])
            elif options["kind"] == "share":
                self._share(find_account(options["account"]), options["report"], options["days"])
            elif options["kind"] == "revoke":
                self._revoke(find_account(options["account"]), options["report"])
            else:
                self._build(get_kind(options["kind"]), options)
        except ReportError as error:
            raise CommandError(str(error)) from error

    def _build(self, kind: ReportKind, options: dict[str, Any]) -> None:
        output: Path | None = options["output"]
        studies = Study.objects.all()
        study = find_study(kind.study, kind.fitting_studies(studies), options.get("study"))
        second = find_study(
            kind.second_study, kind.fitting_second_studies(studies), options.get("second_study")
        )
        corpus = find_corpus(options["corpus"]) if kind.corpus else None
        runs = find_runs(kind, options["run"], corpus) if kind.runs else []
        if output and output.exists() and not output.is_dir():
            raise CommandError(f"{output} is a file, expected a folder.")
        given = {name: options[name] for name in kind.Parameters.model_fields}
        waiting = request_report(
            kind=kind.name,
            study=study,
            second_study=second,
            corpus=corpus,
            runs=runs,
            title=options["title"],
            parameters={name: value for name, value in given.items() if value is not None},
        )
        report = build_report(report_id=waiting.pk) or self._wait_for_other_worker(waiting)
        if report.status == ReportStatus.FAILED:
            raise CommandError(f"The report could not be built: {report.error}")
        self._print(report, kind.document(report, {}))
        if output:
            output.mkdir(parents=True, exist_ok=True)
            for file in report.files.all():
                (output / file.name).write_bytes(bytes(file.content))
            self.stdout.write(f"Files: {output}")

    @staticmethod
    def _wait_for_other_worker(report: Report) -> Report:
        """A worker may have been faster than this process; its result is as good."""
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

    def _share(self, account: User, public_id: str, days: int) -> None:
        report = find_report(account, public_id)
        self.stdout.write(share_report(report=report, created_by=account, days=days))
        self.stderr.write("Whoever has this link can read the report. It is not shown again.")

    def _revoke(self, account: User, public_id: str) -> None:
        shares = list(open_shares().filter(report=find_report(account, public_id)))
        for share in shares:
            revoke_share(share=share, revoked_by=account)
        self.stdout.write(f"Links ended: {len(shares)}.")

    def _print(self, report: Report, document: Document) -> None:
        # Wide enough for a log file; a terminal gives its own width.
        console = Console(
            file=cast("IO[str]", self.stdout), width=None if self.stdout.isatty() else 130
        )
        for banner in document.banners:
            console.print(banner, style="bold yellow", markup=False)
        console.print("  ×  ".join(document.facts), markup=False)
        for block in document.blocks:
            if isinstance(block, Table):
                console.print(_to_rich(block))
        for key in document.keys:
            value = f"{key.value} {key.small}".strip()
            line = f"{key.label}: {value}  ({join_lines(key.lines)})"
            console.print(line, highlight=False, markup=False)
        for line in document.left_out:
            console.print(f"Left out: {line}", highlight=False, markup=False)
        page = reverse("reports:page", args=[report.public_id])
        console.print(f"Report {report.public_id}: {page}", highlight=False)


def find_account(username: str) -> User:
    account = User.objects.filter(username=username).first()
    if account is None:
        raise CommandError(f"There is no account “{username}”.")
    return account


def find_report(account: User, public_id: str) -> Report:
    """Return a report that the account may see, as the page would show it."""
    report = visible_reports(account).filter(public_id=public_id).first()
    if report is None:
        raise CommandError(f"There is no report “{public_id}” that this account may see.")
    return report


def _add_kind(commands: Any, kind: ReportKind) -> None:
    parser = commands.add_parser(kind.name, help=str(kind.question).replace("%", "%%"))
    if kind.study:
        parser.add_argument(
            "--study", help="Public id or title of a study; default: the newest that fits."
        )
    if kind.second_study:
        parser.add_argument(
            "--second-study",
            help=f"Public id or title. {kind.second_study.help}"
            + ("" if kind.second_study.required else " Default: none."),
        )
    if kind.corpus:
        parser.add_argument("--corpus", help="Public id or name of a corpus; default: the newest.")
    if kind.runs:
        several = kind.runs.most != 1
        parser.add_argument(
            "--run",
            action="append",
            help="Number or public id of a finished run"
            + (
                "; may be repeated. Default: all that fit." if several else "; default: the newest."
            ),
        )
    for name, field in kind.Parameters.model_fields.items():
        # The schema reads the text and judges it, with its own words.
        described: Any = field.json_schema_extra or {}
        is_file = described.get("format") == FILE_FORMAT
        parser.add_argument(
            f"--{name.replace('_', '-')}",
            *(["--favourability"] if name == "favorability" else []),
            dest=name,
            type=_read_text if is_file else str,
            metavar="FILE" if is_file else None,
            help=f"{field.description} Default: {field.default}.".replace("%", "%%"),
        )
    parser.add_argument("--title", default="", help="Default: the kind's own question.")
    parser.add_argument(
        "--output", type=Path, metavar="FOLDER", help="Also write the files of all formats."
    )


def _read_text(name: str) -> str:
    """Return the text of a file that stands for an option."""
    try:
        return Path(name).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise argparse.ArgumentTypeError(f"{name} cannot be read as text: {error}") from error


def _to_rich(table: Table) -> RichTable:
    found = RichTable(title=table.caption, title_justify="left", box=None, pad_edge=False)
    above = [text for head in table.heads for text in (head.text, *[""] * (head.span - 1))]
    for place, column in enumerate(table.columns):
        head = f"{above[place]}\n{column.head}" if above else column.head
        found.add_column(head, justify="right" if column.number else "left")
    for row in table.rows:
        found.add_row(*(_shorten(cell) for cell in row.cells))
    return found


def join_lines(lines: Sequence[str]) -> str:
    """Return the lines under a key number as one; those that go on begin in lower case."""
    told = ""
    for line in lines:
        goes_on = not told or line[:1].islower()
        told = f"{told.rstrip('.')}{'' if not told else ' ' if goes_on else '. '}{line}"
    return told


def _shorten(cell: str) -> str:
    text = cell if len(cell) <= LONGEST_CELL else f"{cell[: LONGEST_CELL - 1]}…"
    return text.replace("[", r"\[")


def find_study(
    wanted: StudyInput | None, fitting: QuerySet[Study], name: str | None
) -> Study | None:
    """Return the study of that public id or title, or the newest of those that fit.

    None where no study is wanted, or where one is neither named nor required.
    """
    if wanted is None or (name is None and not wanted.required):
        return None
    if name is None:
        study = fitting.order_by("-pk").first()
        if study is None:
            raise ReportError(f"No study fits yet. {wanted.help}".strip())
        return study
    found = list(Study.objects.filter(public_id=name)) or list(Study.objects.filter(title=name))
    if len(found) != 1:
        known = ", ".join(f"{study.public_id} ({study.title})" for study in fitting[:10])
        what = f"{len(found)} studies are called" if found else "There is no study"
        raise ReportError(f"{what} “{name}”. Studies that fit: {known or 'none'}.")
    return found[0]


def find_corpus(name: str | None) -> Corpus:
    """Return the corpus of that public id or name, or the newest one."""
    if name is None:
        corpus = Corpus.objects.order_by("-pk").first()
        if corpus is None:
            raise ReportError("There is no corpus yet. Import one with “manage.py import_corpus”.")
        return corpus
    found = (
        Corpus.objects.filter(public_id=name).first() or Corpus.objects.filter(name=name).first()
    )
    if found is None:
        known = ", ".join(
            f"{corpus.public_id} ({corpus.name})" for corpus in Corpus.objects.all()[:10]
        )
        raise ReportError(f"There is no corpus “{name}”. Corpora: {known or 'none'}.")
    return found


def find_runs(kind: ReportKind, names: list[str] | None, corpus: Corpus | None) -> list[Run]:
    """Return the named runs, or the newest finished one that fits; all of them if many may be."""
    if kind.runs is None:
        return []
    if names:
        return [_find_run(name) for name in names]
    fitting = Run.objects.filter(
        status=RunStatus.FINISHED, measure__in=fitting_measures(kind.runs)
    ).select_related("model", "corpus")
    if corpus is not None:
        fitting = fitting.filter(corpus=corpus)
    found = list(fitting.order_by("-pk")[: kind.runs.most])
    if len(found) < kind.runs.least:
        raise ReportError("No run that fits is finished yet. Start one with “manage.py probe”.")
    return found[::-1]


def _find_run(name: str) -> Run:
    query = {"pk": int(name)} if name.isdigit() else {"public_id": name}
    found = Run.objects.filter(**query).select_related("model", "corpus").first()
    if found is None:
        raise ReportError(f"There is no run “{name}”.")
    if found.status != RunStatus.FINISHED:
        raise ReportError(
            f"{found} is {found.get_status_display().lower()}, expected a finished run."
        )
    return found
