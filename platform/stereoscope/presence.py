"""Every worker writes down that it is alive; web processes on other machines read it."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from threading import Event, Thread

from django.db import connection
from django.utils import timezone

from stereoscope.models import WorkerPresence

logger = logging.getLogger(__name__)

RENEW_SECONDS = 5.0
# Six missed renewals: a pause of garbage collection or a busy disk is no death.
GONE_AFTER = timedelta(seconds=30)
FORGET_AFTER = timedelta(days=1)


def note_presence(*, name: str, started_at: datetime) -> None:
    """Write that the worker ``name`` is alive now."""
    now = timezone.now()
    WorkerPresence.objects.update_or_create(
        name=name, defaults={"seen_at": now, "started_at": started_at}
    )
    WorkerPresence.objects.filter(seen_at__lt=now - FORGET_AFTER).delete()


def end_presence(*, name: str) -> None:
    """Take out a worker that stops in order."""
    WorkerPresence.objects.filter(name=name).delete()


class PresenceThread(Thread):
    """Renews the presence of one worker until it is told to stop."""

    def __init__(self, name: str) -> None:
        super().__init__(name="presence", daemon=True)
        self._worker = name
        self._started_at = timezone.now()
        self._stop_asked = Event()

    def run(self) -> None:
        try:
            while True:
                self._renew()
                if self._stop_asked.wait(RENEW_SECONDS):
                    end_presence(name=self._worker)
                    return
        finally:
            connection.close()

    def _renew(self) -> None:
        try:
            note_presence(name=self._worker, started_at=self._started_at)
        except Exception:  # a database that is away for a moment must not end the renewing
            logger.exception("the worker's presence was not renewed, the next beat tries again")
            connection.close()

    def stop(self) -> None:
        self._stop_asked.set()
        self.join(timeout=RENEW_SECONDS)
