"""Celery tasks of the engine. A worker that imports them starts the sweeper."""

from __future__ import annotations

from typing import Any

from celery import shared_task

from probing.runs import sweeper  # noqa: F401 (connects its signals)
from probing.runs.dispatch import WORK_TASK, wake_workers
from probing.runs.graceful_stop import stop_asked
from probing.runs.sweep import sweep as sweep_runs
from probing.runs.worker import work, worker_name

# Short, so that reports and other tasks of the same queue get their turn.
BUDGET_SECONDS = 5.0


@shared_task(name=WORK_TASK, bind=True)
def work_shards(self: Any) -> None:
    """Compute shards for a while, then make room for other messages and come back."""
    done = work(
        worker=worker_name(self.request.hostname),
        budget_seconds=BUDGET_SECONDS,
        should_stop=stop_asked,
    )
    if not done.exhausted and not stop_asked():
        wake_workers()


@shared_task(name="probing.sweep")
def sweep() -> None:
    """Sweep once, for installations that prefer a scheduler of their own."""
    sweep_runs()
