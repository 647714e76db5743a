"""Leases on shards: claiming, renewing and giving back.

A lease is held by whoever the row names: worker, attempt and the moment of the claim together
are its fencing token, so that a worker whose lease went to another can no longer store.

Attempts. A claim counts as an attempt, whatever becomes of it, with one exception: a worker that
gives its shard back on purpose (it was told to stop) takes the attempt back. A worker that dies
in the middle has used an attempt up, because a shard that kills its worker (memory, a crash in
native code) must not go round for ever. The price is that three sudden deaths of a machine in
the same shard fail the run; resuming it computes only what is not stored.

Locks are taken in one order everywhere, first the run and then its shards. Only a claim takes a
shard alone, and it does not touch the run while it holds it.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from probing.models import Run, RunEventKind, RunStatus, Shard, ShardStatus
from probing.runs.events import log_event

ATTEMPT_LIMIT = 3
OPEN = (RunStatus.WAITING, RunStatus.RUNNING)
# A shard that waits belongs to nobody; who had it last stays readable in the log.
WAITING = {"status": ShardStatus.PENDING, "lease_until": None, "worker": "", "device": ""}
_LEASE_FIELDS = ["status", "attempts", "worker", "device", "lease_until", "started_at"]


def claim_shard(*, worker: str, device: str = "", run: Run | None = None) -> Shard | None:
    """Lease the first waiting shard of the oldest open run to ``worker``, or return None.

    With ``run``, only shards of that run are considered.

    Each waiting shard goes to exactly one of any number of workers that ask at once.
    """
    while True:
        with transaction.atomic():
            shard = _lock_next(run)
            if shard is None:
                return None
            now = timezone.now()
            taken = Shard.objects.filter(pk=shard.pk, status=ShardStatus.PENDING).update(
                status=ShardStatus.LEASED,
                attempts=shard.attempts + 1,
                worker=worker,
                device=device,
                lease_until=lease_end(now),
                started_at=now,
            )
            if taken:
                shard.refresh_from_db(fields=_LEASE_FIELDS)
                log_event(
                    run_id=shard.run_id,
                    kind=RunEventKind.CLAIMED,
                    shard=shard,
                    message=f"claimed by {worker}, attempt {shard.attempts}, "
                    f"lease until {lease_end(now):%H:%M:%S}",
                )
        # Without row locks another worker may have been faster; then the next shard is tried.
        if taken:
            # After the commit: while it holds a shard, a claim must not wait for the run's row.
            Run.objects.filter(pk=shard.run_id, status=RunStatus.WAITING).update(
                status=RunStatus.RUNNING, started_at=now
            )
            return shard


def _lock_next(run: Run | None) -> Shard | None:
    waiting = (
        waiting_shards()
        .select_related("run__model")
        .defer("result", "run__stimuli")
        .order_by("run_id", "index")
    )
    if run is not None:
        waiting = waiting.filter(run=run)
    if connection.features.has_select_for_update_skip_locked:
        waiting = waiting.select_for_update(skip_locked=True, of=("self",))
    return waiting.first()


def waiting_shards() -> QuerySet[Shard]:
    """Return the shards that may be claimed now, and not only after a pause."""
    pause_over = Q(lease_until=None) | Q(lease_until__lte=timezone.now())
    waiting = Shard.objects.filter(pause_over, status=ShardStatus.PENDING, run__status__in=OPEN)
    # As the index `shard_to_do` says it: SQLite draws no conclusions.
    return waiting.exclude(status=ShardStatus.STORED)


def lease_end(now: datetime) -> datetime:
    """Return when a lease ends that is given ``now``."""
    return now + timedelta(seconds=settings.SHARD_LEASE_SECONDS)


def is_lapsed(now: datetime) -> Q:
    """Return the condition of shards whose lease ran out, or ends later than any can.

    The latter was given before the clock was set back; nobody would renew it for as long.
    """
    return Q(lease_until__lt=now) | Q(lease_until__gt=lease_end(lease_end(now)))


def held_by(shard: Shard) -> QuerySet[Shard]:
    """Return the row of ``shard`` if its lease is still the one that ``shard`` was claimed with."""
    return Shard.objects.filter(
        pk=shard.pk,
        status=ShardStatus.LEASED,
        worker=shard.worker,
        attempts=shard.attempts,
        started_at=shard.started_at,
    )


def renew_lease(shard: Shard) -> bool:
    """Extend the lease; return False if it is no longer ours or the run was closed."""
    return bool(
        held_by(shard).filter(run__status__in=OPEN).update(lease_until=lease_end(timezone.now()))
    )


def release_shard(shard: Shard) -> bool:
    """Give a shard back uncomputed, as if it had not been claimed; False if it was not ours."""
    return bool(held_by(shard).update(**WAITING, attempts=shard.attempts - 1))


def pause_shard(shard: Shard, seconds: float, message: str) -> bool:
    """Give a shard back, as if it had not been claimed, to be claimed after a while."""
    until = timezone.now() + timedelta(seconds=seconds)
    paused = held_by(shard).update(**WAITING | {"lease_until": until}, attempts=shard.attempts - 1)
    if paused:
        log_event(
            run_id=shard.run_id, kind=RunEventKind.BATCHED, shard=shard, message=message[:300]
        )
    return bool(paused)


def release_leases(run: Run) -> int:
    """Take all shards of a run that is being closed from their workers."""
    return run.shards.filter(status=ShardStatus.LEASED).update(**WAITING)
