"""Cancels and resumes runs. Both are safe to repeat."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from probing.models import Run, RunEventKind, RunStatus, ShardStatus
from probing.runs.dispatch import wake_workers
from probing.runs.errors import RunError
from probing.runs.events import log_event
from probing.runs.leases import OPEN, release_leases


def cancel_run(*, run: Run) -> Run:
    """Close an open run; stored shards stay, and what is being computed is thrown away.

    Canceling a canceled run changes nothing. Raises :class:`RunError` for a finished or
    failed one.
    """
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.status == RunStatus.CANCELED:
            return locked
        if locked.status not in OPEN:
            raise RunError.at(
                "status",
                f"Run {locked.pk} is {locked.status}, expected waiting or running: "
                "there is nothing to cancel.",
            )
        locked.status = RunStatus.CANCELED
        locked.finished_at = timezone.now()
        locked.save(update_fields=["status", "finished_at"])
        release_leases(locked)
        stored = locked.shards.filter(status=ShardStatus.STORED).count()
        log_event(
            run_id=locked.pk,
            kind=RunEventKind.CANCELED,
            message=f"canceled, {stored} of {locked.shard_count} shards stay stored",
        )
        return locked


def resume_run(*, run: Run) -> Run:
    """Reopen a canceled or failed run: only shards that are not stored are computed again.

    Attempts start anew. Resuming an open run changes nothing. Raises :class:`RunError` for a
    finished one.
    """
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.status in OPEN:
            return locked
        if locked.status == RunStatus.FINISHED:
            raise RunError.at(
                "status",
                f"Run {locked.pk} is finished, expected canceled or failed: "
                "there is nothing to resume.",
            )
        unfinished = locked.shards.exclude(status=ShardStatus.STORED).update(
            status=ShardStatus.PENDING, attempts=0, worker="", device="", lease_until=None, error=""
        )
        locked.status = RunStatus.RUNNING if locked.started_at else RunStatus.WAITING
        locked.finished_at = None
        locked.error = ""
        locked.save(update_fields=["status", "finished_at", "error"])
        log_event(
            run_id=locked.pk,
            kind=RunEventKind.RESUMED,
            message=f"resumed, {unfinished} of {locked.shard_count} shards to compute",
        )
        transaction.on_commit(wake_workers, robust=True)
        return locked
