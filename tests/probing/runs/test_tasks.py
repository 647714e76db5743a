"""Every task can come twice: messages may be doubled, late or lost."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from probing.models import RunEventKind, RunStatus, Shard, ShardStatus
from probing.runs.graceful_stop import ask_to_stop, forget_order
from probing.runs.leases import claim_shard
from probing.runs.tasks import sweep, work_shards
from probing.runs.worker import work
from tests.probing.runs.fixtures import RunMaker, scores_of

pytestmark = [pytest.mark.django_db, pytest.mark.shared, pytest.mark.services]


def test_work_shards_twice_computes_once(make_run: RunMaker) -> None:
    run = make_run()
    work_shards.apply().get()
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED
    before = scores_of(run)
    stored = list(run.shards.values_list("stored_at", flat=True))
    work_shards.apply().get()
    assert scores_of(run) == before
    assert list(run.shards.values_list("stored_at", flat=True)) == stored
    assert run.events.filter(kind=RunEventKind.CLAIMED).count() == run.shard_count


def test_sweep_twice_lapses_once(make_run: RunMaker) -> None:
    run = make_run()
    shard = claim_shard(worker="dead")
    assert shard is not None
    Shard.objects.filter(pk=shard.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    sweep.apply().get()
    sweep.apply().get()
    assert run.events.filter(kind=RunEventKind.LAPSED).count() == 1
    assert Shard.objects.get(pk=shard.pk).attempts == 1


def test_work_ends_with_its_budget_and_says_that_more_is_left(make_run: RunMaker) -> None:
    run = make_run()
    done = work(worker="w", budget_seconds=1e-9)
    assert not done.exhausted
    assert done.shards <= 1
    assert run.shards.filter(status=ShardStatus.PENDING).exists()
    rest = work(worker="w")
    assert rest.exhausted
    assert done.shards + rest.shards == run.shard_count


def test_a_worker_that_is_told_to_stop_begins_nothing_new(make_run: RunMaker) -> None:
    run = make_run()
    ask_to_stop()
    try:
        work_shards.apply().get()
        assert not run.shards.exclude(status=ShardStatus.PENDING).exists()
    finally:
        forget_order()
    work_shards.apply().get()
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED
