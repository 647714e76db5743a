"""What the database, the broker, the workers and this machine say. A few queries each."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from datetime import timedelta

from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from stereoscope.health import OK, check_health
from stereoscope.health_page.findings import DEPLOYMENT, Finding, State, good
from stereoscope.models import Milestone, MilestoneName, WorkerPresence
from stereoscope.presence import GONE_AFTER

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
