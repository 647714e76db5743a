"""Sweeps inside every worker, so that no scheduler is needed."""

from __future__ import annotations

import logging
from threading import Event, Thread
from typing import Any

from celery.signals import worker_ready, worker_shutting_down
from celery.worker import state
from django.conf import settings
from django.db import connection

from probing.runs.signals import swept
from probing.runs.sweep import sweep

logger = logging.getLogger(__name__)


class Sweeper(Thread):
    """Sweeps at once and then every ``SWEEP_SECONDS``, in the worker's main process.

    It only fills the worker's own idle places: a worker that is busy sends itself no messages,
    so they never pile up, however long a run takes and however many workers there are.
    """

    def __init__(self, places: int) -> None:
        super().__init__(name="sweeper", daemon=True)
        self._places = places
        self._stop_asked = Event()

    def run(self) -> None:
        while True:
            try:
                idle = max(0, self._places - len(state.reserved_requests))
                sweep(idle=idle)
                if idle:
                    swept.send_robust(sender=Sweeper)
            except Exception:  # a database that is away for a moment must not end the sweeping
                logger.exception("a sweep failed, the next one follows")
            finally:
                connection.close()
            if self._stop_asked.wait(settings.SWEEP_SECONDS):
                return

    def stop(self) -> None:
        self._stop_asked.set()


_sweepers: list[Sweeper] = []


@worker_ready.connect
def start_sweeper(sender: Any, **_: Any) -> None:
    """Begin when the worker can take messages; ``sender`` is its consumer."""
    sweeper = Sweeper(places=sender.pool.num_processes)
    _sweepers.append(sweeper)
    sweeper.start()


@worker_shutting_down.connect
def stop_sweepers(**_: Any) -> None:
    while _sweepers:
        _sweepers.pop().stop()
