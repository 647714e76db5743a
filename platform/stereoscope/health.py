"""Whether the parts of the platform answer. No secrets, no addresses: anyone may ask."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import Error, connection
from django.utils import timezone

from stereoscope.models import WorkerPresence
from stereoscope.presence import GONE_AFTER

logger = logging.getLogger(__name__)

OK = "ok"
BROKER_TIMEOUT_SECONDS = 2.0


@dataclass(frozen=True)
class Health:
    """What each part says: “ok”, or what is wrong in plain words."""

    database: str
    broker: str
    worker: str

    @property
    def is_ready(self) -> bool:
        return self.database == self.broker == self.worker == OK


def check_health() -> Health:
    """Ask database, broker and workers. Two queries and at most one connection to the broker."""
    database = _check_database()
    return Health(
        database=database,
        broker=_check_broker(),
        worker=_check_worker() if database == OK else "unknown without the database",
    )


def _check_database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except Error:
        logger.exception("the database does not answer")
        return "does not answer"
    return OK


def _check_broker() -> str:
    if settings.CELERY_BROKER_URL.startswith("filesystem"):
        folder = Path(str(settings.CELERY_BROKER_TRANSPORT_OPTIONS["data_folder_in"]))
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent  # the broker's folders come with the first message
        return OK if os.access(folder, os.W_OK) else "folder is not writable"
    from stereoscope.celery import app

    try:
        with app.connection_for_write(
            url=settings.CELERY_BROKER_URL, connect_timeout=BROKER_TIMEOUT_SECONDS
        ) as link:
            link.ensure_connection(max_retries=1, interval_start=0, timeout=BROKER_TIMEOUT_SECONDS)
    except Exception:  # every transport raises its own kind
        logger.exception("the broker does not answer")
        return "does not answer"
    return OK


def _check_worker() -> str:
    try:
        # One from the future was written before the clock was set back.
        seen = WorkerPresence.objects.filter(seen_at__lte=timezone.now() + GONE_AFTER)
        newest = seen.order_by("-seen_at").first()
    except Error:  # a database without its tables
        logger.exception("the workers are not known")
        return "unknown, run the migrations"
    if newest is None:
        return "none is running"
    age = timezone.now() - newest.seen_at
    return OK if age <= GONE_AFTER else f"last seen {int(age.total_seconds())} s ago"
