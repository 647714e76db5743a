"""Progress is told in a fixed number of queries, and drawn in a bounded number of marks."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from probing.models import LanguageModel, Run, RunStatus, Shard, ShardStatus
from probing.runs.leases import claim_shard
from probing.runs.progress import LARGEST_DRAWING, load_progress
from probing.runs.worker import compute_shard, work
from tests.probing.runs.fixtures import RunMaker

pytestmark = [pytest.mark.django_db, pytest.mark.shared, pytest.mark.services]

QUERIES = 8


@pytest.fixture
def stored_run(bert: LanguageModel) -> Any:
    """Write down a run as it is after ``stored`` of ``total`` shards, one every two seconds."""

    def make(total: int, stored: int) -> Run:
        now = timezone.now()
        run = Run.objects.create(
            measure="set",
            model=bert,
            parameters={},
            stimuli={},
            stimuli_hash="0" * 64,
            status=RunStatus.RUNNING,
            shard_count=total,
            started_at=now - timedelta(seconds=2 * stored),
            code_version="0",
        )
        Shard.objects.bulk_create(
            [
                Shard(
                    run=run,
                    index=index,
                    title=f"shard {index}",
                    payload={},
                    status=ShardStatus.STORED if index < stored else ShardStatus.PENDING,
                    attempts=1 if index < stored else 0,
                    worker="w" if index < stored else "",
                    result=b"x" if index < stored else None,
                    started_at=now - timedelta(seconds=2 * (stored - index))
                    if index < stored
                    else None,
                    stored_at=now - timedelta(seconds=2 * (stored - index) - 2)
                    if index < stored
                    else None,
                )
                for index in range(total)
            ],
            batch_size=500,
        )
        return run

    return make


def test_counts_rate_and_time_left_follow_from_the_shards(stored_run: Any) -> None:
    # 60 shards in 120 seconds are 30 a minute; the 40 that are missing take 80 seconds.
    progress = load_progress(stored_run(100, 60))
    assert (progress.total, progress.stored, progress.pending) == (100, 60, 40)
    assert (progress.leased, progress.failed, progress.repeated) == (0, 0, 0)
    assert progress.percent == 60
    assert progress.rate == pytest.approx(30, rel=0.05)
    assert progress.seconds_left == pytest.approx(80, rel=0.05)
    assert [worker.stored for worker in progress.workers] == [60]


def test_the_rate_is_that_of_the_last_ten_minutes(stored_run: Any) -> None:
    run = stored_run(10, 4)
    long_ago = timezone.now() - timedelta(hours=3)
    run.shards.filter(status=ShardStatus.STORED).update(stored_at=long_ago, started_at=long_ago)
    progress = load_progress(run)
    assert progress.rate == 0
    assert progress.seconds_left is None
    assert progress.ends_at is None


@pytest.mark.parametrize("total", [10, 400])
def test_queries_do_not_grow_with_the_run(
    stored_run: Any, total: int, django_assert_num_queries: Any
) -> None:
    run = stored_run(total, total // 2)
    with django_assert_num_queries(QUERIES):
        load_progress(run)


def test_many_shards_are_binned_and_none_is_lost(stored_run: Any) -> None:
    progress = load_progress(stored_run(4500, 1500))
    # 4,500 shards at three a mark.
    assert len(progress.bins) == 1500 <= LARGEST_DRAWING
    assert sum(cell.count for cell in progress.bins) == 4500
    assert [cell.first for cell in progress.bins[:3]] == [0, 3, 6]
    assert [cell.state for cell in progress.bins].count("stored") == 500


def test_a_mark_shows_what_became_of_its_shard(make_run: RunMaker) -> None:
    run = make_run()
    first = claim_shard(worker="w1")
    assert first is not None
    compute_shard(first)
    claim_shard(worker="w2")
    run.shards.filter(index=2).update(status=ShardStatus.FAILED, error="trouble")
    run.shards.filter(index=0).update(attempts=2)
    progress = load_progress(run)
    assert [cell.state for cell in progress.bins[:4]] == [
        "repeated",
        "running",
        "failed",
        "waiting",
    ]
    assert {worker.name: worker.working for worker in progress.workers} == {
        "w1": False,
        "w2": True,
    }
    assert [shard.index for shard in progress.troubled] == [2]
    assert progress.events[0].message.startswith("claimed by w2")


def test_a_finished_run_has_no_time_left(make_run: RunMaker) -> None:
    run = make_run()
    work(worker="w", run=run)
    progress = load_progress(run)
    assert not progress.is_open
    assert progress.percent == 100
    assert progress.seconds_left is None
    assert progress.rate > 0
