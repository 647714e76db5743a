"""The page itself, for administrators alone."""

from __future__ import annotations

import platform
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from importlib.metadata import version

from django.conf import settings
from django.contrib import admin
from django.core.checks import WARNING, Tags, run_checks
from django.core.exceptions import PermissionDenied
from django.db import Error, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from annotation.annotators.invitations import can_send_mail
from annotation.models import ActionState, PanelAction
from evaluation.models import Report, ReportStatus
from probing.models import Run, RunEvent, RunStatus, Shard
from stereoscope.health import OK, check_health
from stereoscope.models import Milestone, MilestoneName, WorkerPresence
from stereoscope.presence import GONE_AFTER
from stereoscope.templatetags.help import docs_address

# --- What a check says: how a part stands, and where something is wrong, what to do

DEPLOYMENT = "deployment.html"


class State(Enum):
    """The word for a state, and its badge. The worst come first on the page."""

    BAD = (gettext_lazy("Mend now"), "bad mark-cross")
    WARN = (gettext_lazy("Look at this"), "warn mark-triangle")
    GOOD = (gettext_lazy("In order"), "good mark-tick")

    @property
    def word(self) -> str:
        return str(self.value[0])

    @property
    def css(self) -> str:
        return str(self.value[1])


@dataclass(frozen=True)
class Finding:
    """One part. ``remedy`` says what to do where it is not in order; ``docs`` is a page."""

    title: str
    state: State
    said: str
    remedy: str = ""
    docs: str = f"{DEPLOYMENT}#health"


def good(title: str, said: str) -> Finding:
    return Finding(title, State.GOOD, said)


# --- The page

VARIABLES = f"{DEPLOYMENT}#environment-variables"
TAGS = [Tags.security, Tags.caches, "stereoscope"]  # those about code are for developers
#: What computes, with the versions that reports state.
LIBRARIES = ("django", "celery", "torch", "transformers", "numpy")


def find_configuration() -> Iterator[Finding]:
    """Yield each warning about the settings, then whether mail can be sent.

    What a site on the net needs is not asked of a machine that serves itself alone.
    """
    found = run_checks(tags=TAGS, include_deployment_checks=not settings.IS_OWN_MACHINE)
    warnings = [
        message for message in found if message.level >= WARNING and not message.is_silenced()
    ]
    for message in warnings:
        state = State.BAD if message.is_serious() else State.WARN
        remedy = message.hint or _("See “manage.py check --deploy”.")
        title = _("Settings (%(id)s)") % {"id": message.id}
        yield Finding(title, state, str(message.msg), str(remedy), VARIABLES)
    if not warnings:
        yield good(_("Settings"), _("The checks of the settings find nothing."))
    if can_send_mail():
        said = _("Invitations go out over %(host)s.") % {"host": settings.EMAIL_HOST}
        yield good(_("Mail"), said)
    else:
        said = _("Not set up: researchers hand links of invitations over themselves.")
        remedy = _("Set EMAIL_HOST if the platform shall send them.")
        yield Finding(_("Mail"), State.GOOD, said, remedy, VARIABLES)


def list_versions() -> list[tuple[str, str]]:
    """Return names and versions of what runs here."""
    database = ".".join(map(str, connection.get_database_version()))
    return [
        ("Stereoscope", settings.CODE_VERSION),
        ("Python", platform.python_version()),
        (connection.display_name, database),
        *((name, version(name)) for name in LIBRARIES),
    ]


# --- What the database, the broker, the workers and this machine say. A few queries each ----------

#: Messages only wake workers: more than these say that nobody reads them.
MANY_MESSAGES = 1000
FULL_BYTES, ALMOST_BYTES = 1_000_000_000, 5_000_000_000
BACKUP_DAYS = 2
RETENTION_HOURS = 26
CLOCK_SECONDS = 5.0
BACKUP_PAGE = f"{DEPLOYMENT}#backup-and-restore"


def find_services() -> Iterator[Finding]:
    """Yield what the health addresses check, in words with a remedy."""
    health = check_health()
    yield _describe(
        _("Database"),
        health.database,
        f"{connection.display_name} {'.'.join(map(str, connection.get_database_version()))}",
        _("Start the database, and look into its log and at DATABASE_URL."),
    )
    yield _find_migrations()
    yield _describe(
        _("Messages to workers"),
        health.broker,
        _("The broker answers."),
        _("Start the broker, and look at CELERY_BROKER_URL. Workers look for work meanwhile."),
    )
    yield _describe(
        _("Workers"),
        health.worker,
        _describe_workers(),
        _("Start a worker: runs, reports and payments wait for one."),
    )
    if health.broker == OK:
        yield _find_queue()


def _describe(title: str, said: str, in_order: str, remedy: str) -> Finding:
    if said == OK:
        return good(title, in_order)
    return Finding(title, State.BAD, said[:1].upper() + said[1:], remedy)


def _describe_workers() -> str:
    now = timezone.now()
    seen = WorkerPresence.objects.filter(
        seen_at__gte=now - GONE_AFTER, seen_at__lte=now + GONE_AFTER
    )
    moments = list(seen.order_by("-seen_at").values_list("seen_at", flat=True))
    if not moments:
        return ""
    seconds = max(0, int((now - moments[0]).total_seconds()))
    running = ngettext("%(n)d runs", "%(n)d run", len(moments)) % {"n": len(moments)}
    return _("%(running)s, heard of %(seconds)d s ago.") % {
        "running": running,
        "seconds": seconds,
    }


def _find_queue() -> Finding:
    from stereoscope.celery import app

    title, queue = _("Unread messages"), settings.CELERY_TASK_DEFAULT_QUEUE
    try:
        with app.connection_for_read(connect_timeout=2) as link:
            channel = link.default_channel
            number = channel.queue_declare(queue=queue, passive=True).message_count or 0
    except link.channel_errors:  # nobody has sent or asked for a message yet
        number = 0
    said = ngettext("%(n)d message waits.", "%(n)d messages wait.", number) % {"n": number}
    if not number:
        said = _("No message waits.")
    if number <= MANY_MESSAGES:
        return good(title, said)
    return Finding(
        title,
        State.WARN,
        said,
        _("Start more workers. No work is lost: messages only wake workers."),
    )


def _find_migrations() -> Finding:
    executor = MigrationExecutor(connection)
    missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    title = _("Tables")
    if not missing:
        return good(title, _("As this version needs them."))
    said = ngettext("%(n)d migration is missing.", "%(n)d migrations are missing.", len(missing))
    remedy = _("Run “manage.py migrate”.")
    return Finding(title, State.BAD, said % {"n": len(missing)}, remedy)


def find_disk() -> Iterator[Finding]:
    """Yield how much room the folder of the platform has, and when it was copied last."""
    total, _used, free = shutil.disk_usage(settings.VAR_DIR)
    said = _("%(free)s of %(total)s are free.") % {
        "free": filesizeformat(free),
        "total": filesizeformat(total),
    }
    remedy = _("Make room on the disk of VAR_DIR: without any, answers of people are refused.")
    state = State.GOOD
    if free < FULL_BYTES:
        state = State.BAD
    elif free < ALMOST_BYTES:
        state = State.WARN
    yield Finding(_("Disk"), state, said, remedy if state != State.GOOD else "")
    yield _find_milestone(
        MilestoneName.BACKUP,
        _("Backup"),
        timedelta(days=BACKUP_DAYS),
        _("Run “manage.py backup FILE” every night, and keep the file on another machine."),
        BACKUP_PAGE,
    )
    yield _find_milestone(
        MilestoneName.RETENTION,
        _("Erasing what is due"),
        timedelta(hours=RETENTION_HOURS),
        _("A worker looks every hour. Start one, or run “manage.py erase_expired”."),
        f"{DEPLOYMENT}#personal-data",
    )


def _find_milestone(
    name: MilestoneName, title: str, at_most: timedelta, remedy: str, docs: str
) -> Finding:
    last = Milestone.objects.filter(name=name).first()
    if last is None:
        return Finding(title, State.WARN, _("Not done yet, as far as is known."), remedy, docs)
    said = _("Last done %(time)s ago.") % {"time": timesince(last.at)}
    if timezone.now() - last.at <= at_most:
        return good(title, f"{said} {last.detail}".strip())
    return Finding(title, State.WARN, said, remedy, docs)


def find_clock() -> Finding:
    """Compare the clock of this machine with that of PostgreSQL's; SQLite has none of its own."""
    title = _("Clock")
    if connection.vendor != "postgresql":
        return good(title, _("Web server and database have the same."))
    with connection.cursor() as cursor:
        cursor.execute("SELECT extract(epoch FROM clock_timestamp())")
        seconds = abs(float(cursor.fetchone()[0]) - time.time())
    said = _("%(seconds).1f s apart from the database’s.") % {"seconds": seconds}
    if seconds <= CLOCK_SECONDS:
        return good(title, said)
    remedy = _("Let both machines set their clocks by the network (NTP).")
    return Finding(title, State.WARN, said, remedy)


# --- Work that stands still or has failed: runs, reports, payments, the audit log's seals ---------

#: Without any event for so long, an open run stands still.
STILL = timedelta(minutes=30)
RECENT = timedelta(days=7)


def find_work() -> Iterator[Finding]:
    """Yield how runs, reports and payments go on. Five queries."""
    yield _find_runs()
    yield _find_failures()
    yield _find_payments()


def _find_runs() -> Finding:
    now, title = timezone.now(), _("Open runs")
    events = RunEvent.objects.filter(run=OuterRef("pk"), at__gte=now - STILL)
    leases = Shard.objects.filter(run=OuterRef("pk"), lease_until__gte=now)
    open_runs = Run.objects.filter(status__in=[RunStatus.WAITING, RunStatus.RUNNING])
    n = open_runs.count()
    still = list(
        open_runs.filter(~Exists(events), ~Exists(leases), created_at__lt=now - STILL)
        .order_by("pk")
        .values_list("pk", flat=True)
    )
    if not n:
        return good(title, _("No run is open."))
    if not still:
        return good(title, ngettext("%(n)d, at work.", "%(n)d, none stands still.", n) % {"n": n})
    said = _("Nothing has happened for %(minutes)d minutes in run %(runs)s.") % {
        "minutes": STILL.total_seconds() // 60,
        "runs": ", ".join(map(str, still[:5])),
    }
    remedy = _("Look whether a worker runs and what its log says; a run can be canceled.")
    return Finding(title, State.WARN, said, remedy, "measures.html")


def _find_failures() -> Finding:
    since, title = timezone.now() - RECENT, _("Failed work")
    runs = Run.objects.filter(status=RunStatus.FAILED, finished_at__gte=since).count()
    reports = Report.objects.filter(status=ReportStatus.FAILED, started_at__gte=since).count()
    if not runs + reports:
        return good(title, _("No run and no report in a week."))
    said = _("In a week %(runs)d runs and %(reports)d reports.") % {
        "runs": runs,
        "reports": reports,
    }
    remedy = _("Their pages say why; they can be resumed or built again there.")
    return Finding(title, State.WARN, said, remedy, "reports.html")


def _find_payments() -> Finding:
    title = _("Payments")
    unclear = PanelAction.objects.filter(
        state__in=[ActionState.UNCLEAR, ActionState.FAILED]
    ).count()
    if not unclear:
        return good(title, _("None is unclear or refused."))
    said = ngettext("%(n)d is unclear or refused.", "%(n)d are unclear or refused.", unclear)
    remedy = _("Open “Money” of the study: it says what each of them waits for.")
    return Finding(title, State.WARN, said % {"n": unclear}, remedy, "studies/group-ratings.html")


PERMISSION = "stereoscope.view_workerpresence"


@never_cache
@require_safe
def show_health(request: HttpRequest) -> HttpResponse:
    """Say of each part how it stands, the worst first, with the remedy."""
    if not request.user.has_perm(PERMISSION):
        raise PermissionDenied
    findings = sorted(find_all(), key=lambda finding: list(State).index(finding.state))
    context = {
        **admin.site.each_context(request),
        "title": _("Health"),
        "now": timezone.now(),
        "lines": [(finding, docs_address(finding.docs)) for finding in findings],
        "n_wrong": sum(finding.state != State.GOOD for finding in findings),
        "versions": list_versions(),
    }
    return render(request, "admin/stereoscope/health.html", context)


def find_all() -> list[Finding]:
    """Return what all checks say; a check that fails is a finding itself."""
    findings: list[Finding] = []
    checks: tuple[Callable[[], Iterable[Finding]], ...] = (
        find_services,
        lambda: [find_clock()],
        find_work,
        find_disk,
        find_configuration,
    )
    for check in checks:
        try:
            findings += check()
        except (Error, OSError) as error:
            remedy = _("Look into the log of the web server.")
            findings.append(Finding(_("A check"), State.BAD, type(error).__name__, remedy))
    return findings
