"""A shard belongs to one worker at a time, and only that worker can store it."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest
import time_machine
from django.db import OperationalError, connection
from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet
from django.utils import timezone

from probing.models import Run, RunEvent, RunEventKind, RunStatus, Shard, ShardStatus
from probing.runs.failure import lapse_leases
from probing.runs.heartbeat import keep_lease
from probing.runs.leases import (
    ATTEMPT_LIMIT,
    claim_shard,
    is_lapsed,
    release_shard,
    renew_lease,
    waiting_shards,
)
from probing.runs.shard_computation import ShardOutcome
from probing.runs.sweep import sweep
from probing.runs.worker import compute_shard, work
from tests.probing.runs.fixtures import RunMaker, scores_of

pytestmark = [pytest.mark.django_db, pytest.mark.shared, pytest.mark.services]


def claim(worker: str) -> Shard:
    shard = claim_shard(worker=worker)
    assert shard is not None
    return shard


def expire(shard: Shard) -> None:
    """Let the time of a lease run out, as if its worker had been away for that long."""
    past = timezone.now() - timedelta(seconds=1)
    assert Shard.objects.filter(pk=shard.pk).update(lease_until=past) == 1


def lease_end(held: QuerySet[Shard]) -> datetime:
    end = held.get(status=ShardStatus.LEASED).lease_until
    assert end is not None
    return end


def kinds(run: Run) -> list[str]:
    return list(RunEvent.objects.filter(run=run).order_by("pk").values_list("kind", flat=True))


def test_a_claim_is_a_lease_for_the_first_waiting_shard(make_run: RunMaker, settings: Any) -> None:
    settings.SHARD_LEASE_SECONDS = 100
    run = make_run()
    before = timezone.now()
    shard = claim("w1")
    assert (shard.index, shard.status, shard.attempts) == (0, ShardStatus.LEASED, 1)
    assert shard.worker == "w1"
    assert shard.lease_until is not None
    assert 99 <= (shard.lease_until - before).total_seconds() <= 102
    run.refresh_from_db()
    assert run.status == RunStatus.RUNNING
    assert run.started_at is not None
    assert claim("w2").index == 1


def test_older_runs_come_first_unless_one_is_named(make_run: RunMaker) -> None:
    older, newer = make_run(), make_run()
    assert claim("w").run_id == older.pk
    named = claim_shard(worker="w", run=newer)
    assert named is not None
    assert named.run_id == newer.pk


def test_nothing_is_claimed_when_nothing_waits(make_run: RunMaker) -> None:
    assert claim_shard(worker="w") is None
    run = make_run()
    for _ in range(run.shard_count):
        claim("w")
    assert claim_shard(worker="w") is None


@pytest.mark.parametrize("status", [RunStatus.CANCELED, RunStatus.FAILED, RunStatus.FINISHED])
def test_shards_of_closed_runs_are_not_claimed(make_run: RunMaker, status: RunStatus) -> None:
    run = make_run()
    Run.objects.filter(pk=run.pk).update(status=status)
    assert claim_shard(worker="w") is None


def test_a_lease_can_be_renewed_by_its_holder_alone(make_run: RunMaker) -> None:
    make_run()
    shard = claim("w1")
    expire(shard)
    assert renew_lease(shard)
    assert lapse_leases() == 0
    expire(shard)
    assert lapse_leases() == 1
    assert not renew_lease(shard)


def test_a_lease_given_before_the_clock_was_set_back_lapses(make_run: RunMaker) -> None:
    make_run()
    with time_machine.travel(timezone.now() + timedelta(hours=3)):
        ahead = claim("dead")
        assert lapse_leases() == 0
    assert lapse_leases() == 1, "nobody waits three hours for a worker that died"
    assert claim("alive").pk == ahead.pk
    assert lapse_leases() == 0


def test_a_lapsed_shard_goes_to_another_worker_and_counts_as_an_attempt(
    make_run: RunMaker,
) -> None:
    run = make_run()
    first = claim("dead")
    expire(first)
    assert lapse_leases() == 1
    assert lapse_leases() == 0, "a second sweep finds nothing"
    waiting = Shard.objects.get(pk=first.pk)
    assert (waiting.status, waiting.worker, waiting.lease_until) == (ShardStatus.PENDING, "", None)
    second = claim("alive")
    assert second.pk == first.pk
    assert second.attempts == 2
    assert RunEventKind.LAPSED in kinds(run)


def test_a_worker_that_lost_its_lease_stores_nothing(make_run: RunMaker) -> None:
    make_run()
    late = claim("late")
    expire(late)
    lapse_leases()
    current = claim("current")
    assert compute_shard(late) is ShardOutcome.LOST
    held = Shard.objects.get(pk=late.pk)
    assert (held.status, held.worker, held.result) == (ShardStatus.LEASED, "current", None)
    assert compute_shard(current) is ShardOutcome.STORED
    assert compute_shard(late) is ShardOutcome.LOST
    assert Shard.objects.get(pk=late.pk).worker == "current"


def test_the_same_worker_cannot_store_with_an_older_lease(make_run: RunMaker) -> None:
    make_run()
    late = claim("w")
    expire(late)
    lapse_leases()
    # Attempts start anew after a resume, so the moment of the claim has to tell leases apart.
    Shard.objects.filter(pk=late.pk).update(attempts=0)
    assert claim("w").attempts == late.attempts
    assert compute_shard(late) is ShardOutcome.LOST


def test_a_shard_that_kills_its_workers_fails_the_run(make_run: RunMaker) -> None:
    run = make_run()
    for number in range(ATTEMPT_LIMIT):
        expire(claim(f"w{number}"))
        lapse_leases()
    run.refresh_from_db()
    shard = run.shards.get(index=0)
    assert run.status == RunStatus.FAILED
    assert shard.status == ShardStatus.FAILED
    assert "w2 did not renew its lease" in shard.error
    assert "w2 did not renew its lease" in run.error
    assert kinds(run)[-1] == RunEventKind.FAILED
    assert claim_shard(worker="w") is None


def test_a_shard_that_is_given_back_keeps_its_attempts(make_run: RunMaker) -> None:
    make_run()
    shard = claim("w")
    assert release_shard(shard)
    assert not release_shard(shard)
    again = claim("w")
    assert (again.pk, again.attempts) == (shard.pk, 1)


def test_a_shard_goes_back_when_its_worker_is_interrupted(
    make_run: RunMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run()
    shard = claim("w")

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    # Only a signal can interrupt the computing itself; it strikes where the model is loaded.
    monkeypatch.setattr("probing.runs.shard_computation.load_model", interrupt)
    with pytest.raises(KeyboardInterrupt):
        compute_shard(shard)
    back = Shard.objects.get(pk=shard.pk)
    assert (back.status, back.attempts) == (ShardStatus.PENDING, 0)


def test_the_lease_is_renewed_while_a_shard_is_computed(
    shared_database: str, make_run: RunMaker, settings: Any
) -> None:
    settings.SHARD_LEASE_SECONDS = 1.5
    make_run()
    shard = claim("w")
    held = Shard.objects.filter(pk=shard.pk)
    ends = [lease_end(held)]
    with keep_lease(shard) as lost:
        patience = time.monotonic() + 120
        while len(ends) < 5:
            assert time.monotonic() < patience, "it is renewed again and again"
            time.sleep(0.01)
            ends += [end] if (end := lease_end(held)) > ends[-1] else []
        assert not lost.is_set()
    assert lease_end(held) - ends[0] > timedelta(seconds=1.5), "longer than a lease"
    # A busy machine may delay one renewal beyond the end of a lease, hardly each of them.
    assert min(later - end for end, later in pairwise(ends)) < timedelta(seconds=1.5)
    with keep_lease(shard) as lost:
        held.update(worker="thief")
        assert lost.wait(120)


def test_a_sweep_wakes_idle_workers_for_waiting_shards_only(make_run: RunMaker) -> None:
    assert sweep(idle=4).messages == 0
    run = make_run()
    assert sweep(idle=3).messages == 3
    assert sweep(idle=0).messages == 0
    for _ in range(run.shard_count - 1):
        claim("w")
    assert sweep(idle=3).messages == 1
    expire(claim("w"))
    swept = sweep(idle=3)
    assert (swept.lapsed, swept.messages) == (1, 1)


def test_a_claim_is_written_into_the_log(make_run: RunMaker) -> None:
    run = make_run()
    claimed = claim("w")
    assert kinds(run) == [RunEventKind.PLANNED, RunEventKind.CLAIMED]
    event = RunEvent.objects.get(run=run, kind=RunEventKind.CLAIMED)
    assert event.shard_index == claimed.index
    assert "claimed by w, attempt 1" in event.message


def test_a_run_after_lapses_gives_the_same_scores(make_run: RunMaker) -> None:
    calm, troubled = make_run(), make_run()
    work(worker="w", run=calm)
    for _ in range(2):
        shard = claim("dead")
        assert shard.run_id == troubled.pk
        expire(shard)
        lapse_leases()
    work(worker="w", run=troubled)
    troubled.refresh_from_db()
    assert troubled.status == RunStatus.FINISHED
    assert scores_of(troubled) == scores_of(calm)


def test_a_full_disk_uses_up_no_attempt(shared_database: str, make_run: RunMaker) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("only a SQLite file is kept from growing so easily")
    run = make_run()
    first = claim("w")
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE ballast (filler BLOB)")
        # As a disk without room: what is there may change, nothing can be added.
        cursor.execute("PRAGMA page_count")
        cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0]}")
        fill_free_pages(cursor)
    with pytest.raises(OperationalError, match="full"):
        compute_shard(first)
    waiting = Shard.objects.get(pk=first.pk)
    assert (waiting.status, waiting.attempts) == (ShardStatus.PENDING, 0)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA max_page_count = 1000000")
    work(worker="w")
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED


def fill_free_pages(cursor: CursorWrapper) -> None:
    """Use up what the file has left inside, down to rows of a few bytes."""
    for size in (2000, 200, 20):
        with suppress(OperationalError):
            while True:
                cursor.execute("INSERT INTO ballast VALUES (zeroblob(%s))", [size])


def test_claims_and_lapses_read_no_stored_shard(make_run: RunMaker) -> None:
    """A run of 38,000 shards claims its last one as fast as its first: plans go by what is left."""
    run = make_run()
    if connection.vendor != "sqlite":
        pytest.skip("plans of a few rows on PostgreSQL are scans")
    missing = run.shards.exclude(status=ShardStatus.STORED).order_by()
    lapsed = Shard.objects.filter(is_lapsed(timezone.now()), status=ShardStatus.LEASED)
    in_order = waiting_shards().order_by("run_id", "index")
    for shards, index in (
        (in_order, "shard_to_do"),
        (in_order.filter(run=run), "shard_to_do"),
        (missing, "shard_to_do"),
        (lapsed.order_by(), "shard_with_lease"),
    ):
        plan = shards.explain()
        assert index in plan, plan
        assert "TEMP B-TREE" not in plan, plan
