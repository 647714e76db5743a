"""Ends attempts that failed, and runs that cannot continue."""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from probing.models import Run, RunEventKind, RunStatus, Shard, ShardStatus
from probing.runs.events import log_event
from probing.runs.leases import ATTEMPT_LIMIT, OPEN, WAITING, held_by, is_lapsed, release_leases


def fail_shard(*, shard: Shard, error: str) -> bool:
    """Record that computing ``shard`` raised; the third attempt that fails, fails the run.

    Returns False, and changes nothing, if the lease went to another worker meanwhile.
    """
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=shard.run_id)
        return end_attempt(
            run=run,
            shard=shard,
            guard=held_by(shard),
            kind=RunEventKind.ERROR,
            message=f"attempt {shard.attempts} failed: {last_line(error)}",
            error=error,
        )


def lapse_leases() -> int:
    """Take the shards whose lease ran out from their workers; return how many. Idempotent."""
    expired = Shard.objects.filter(is_lapsed(timezone.now()), status=ShardStatus.LEASED)
    return sum(_lapse(shard) for shard in expired.defer("result", "payload"))


def _lapse(shard: Shard) -> bool:
    with transaction.atomic():
        run = Run.objects.select_for_update(no_key=True).get(pk=shard.run_id)
        # The worker may have renewed or stored meanwhile: the guard asks once more, under lock.
        guard = held_by(shard).filter(is_lapsed(timezone.now()))
        message = f"attempt {shard.attempts} lapsed: {shard.worker} did not renew its lease"
        return end_attempt(
            run=run,
            shard=shard,
            guard=guard,
            kind=RunEventKind.LAPSED,
            message=message,
            error=message,
        )


def end_attempt(
    *, run: Run, shard: Shard, guard: QuerySet[Shard], kind: RunEventKind, message: str, error: str
) -> bool:
    """Put the shard back, or fail it and its locked ``run`` when its attempts are used up.

    ``guard`` is the shard's row under the condition that its lease is still the same.
    """
    last = shard.attempts >= ATTEMPT_LIMIT and run.status in OPEN
    if last:
        changed = guard.update(status=ShardStatus.FAILED, lease_until=None, error=error)
    else:
        changed = guard.update(**WAITING, error=error)
    if not changed:
        return False
    log_event(run_id=run.pk, kind=kind, shard=shard, message=message)
    if last:
        _close_as_failed(
            run,
            reason=f"shard {shard.index:04d} used up its {shard.attempts} attempts",
            error=error,
        )
    return True


def fail_run(*, run: Run, reason: str, error: str) -> bool:
    """Fail an open run as a whole, with the traceback; False if it was closed already."""
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.status not in OPEN:
            return False
        _close_as_failed(locked, reason=reason, error=error)
        return True


def _close_as_failed(run: Run, *, reason: str, error: str) -> None:
    run.status = RunStatus.FAILED
    run.finished_at = timezone.now()
    run.error = f"{reason[0].upper()}{reason[1:]}.\n\n{error}"
    run.save(update_fields=["status", "finished_at", "error"])
    release_leases(run)
    log_event(run_id=run.pk, kind=RunEventKind.FAILED, message=f"run failed: {reason}")


def last_line(error: str) -> str:
    """Return what a traceback says in the end."""
    lines = error.strip().splitlines()
    return lines[-1] if lines else "no message"
