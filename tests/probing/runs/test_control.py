"""Runs can be canceled and resumed at any point, as often as one likes."""

from __future__ import annotations

import pytest

from probing.models import Run, RunEventKind, RunStatus, Shard, ShardStatus
from probing.runs.control import cancel_run, resume_run
from probing.runs.errors import RunError
from probing.runs.leases import claim_shard
from probing.runs.shard_computation import ShardOutcome
from probing.runs.worker import compute_shard, work
from tests.probing.runs.fixtures import RunMaker, scores_of

pytestmark = [pytest.mark.django_db, pytest.mark.shared, pytest.mark.services]


def compute_some(run: Run, number: int) -> None:
    for _ in range(number):
        shard = claim_shard(worker="w", run=run)
        assert shard is not None
        compute_shard(shard)


def stored(run: Run) -> int:
    return run.shards.filter(status=ShardStatus.STORED).count()


@pytest.mark.parametrize("done", [0, 1, 5, 7])
def test_a_canceled_run_keeps_its_stored_shards_and_can_be_resumed(
    make_run: RunMaker, done: int
) -> None:
    calm, run = make_run(), make_run()
    work(worker="w", run=calm)
    compute_some(run, done)
    in_progress = claim_shard(worker="other", run=run)
    assert in_progress is not None

    canceled = cancel_run(run=run)
    assert canceled.status == RunStatus.CANCELED
    assert stored(run) == done
    assert not run.shards.filter(status=ShardStatus.LEASED).exists()
    assert claim_shard(worker="w", run=run) is None
    assert compute_shard(in_progress) is ShardOutcome.LOST, "what is being computed is thrown away"
    assert stored(run) == done
    kept = {shard.index: shard.stored_at for shard in run.shards.all() if shard.stored_at}

    resumed = resume_run(run=run)
    assert resumed.status in {RunStatus.WAITING, RunStatus.RUNNING}
    assert compute_shard(in_progress) is ShardOutcome.LOST, "an old lease is worth nothing later"
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED
    assert scores_of(run) == scores_of(calm)
    for shard in run.shards.filter(index__in=kept):
        assert shard.stored_at == kept[shard.index], "stored shards are not computed again"


def test_canceling_twice_is_canceling_once(make_run: RunMaker) -> None:
    run = make_run()
    cancel_run(run=run)
    cancel_run(run=run)
    assert run.events.filter(kind=RunEventKind.CANCELED).count() == 1


def test_resuming_twice_is_resuming_once(make_run: RunMaker) -> None:
    run = make_run()
    cancel_run(run=run)
    resume_run(run=run)
    claim_shard(worker="w")
    resume_run(run=run)
    assert run.events.filter(kind=RunEventKind.RESUMED).count() == 1
    assert run.shards.filter(status=ShardStatus.LEASED).count() == 1, "a second one takes nothing"


def test_a_finished_run_is_neither_canceled_nor_resumed(make_run: RunMaker) -> None:
    run = make_run()
    work(worker="w", run=run)
    before = scores_of(run)
    with pytest.raises(RunError, match="nothing to cancel"):
        cancel_run(run=run)
    with pytest.raises(RunError, match="nothing to resume"):
        resume_run(run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED
    assert scores_of(run) == before


def test_a_run_that_was_canceled_before_aggregation_is_finished_after_resuming(
    make_run: RunMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run()
    with monkeypatch.context() as moment:
        # Stands for the moment between the last store and the aggregation.
        moment.setattr("probing.runs.shard_computation.aggregate_run", lambda run: None)
        compute_some(run, run.shard_count)
    assert stored(run) == run.shard_count
    cancel_run(run=run)
    work(worker="w")
    run.refresh_from_db()
    assert run.status == RunStatus.CANCELED
    assert not run.scores.exists()
    resume_run(run=run)
    work(worker="w")
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED
    assert run.scores.exists()


def test_resuming_gives_every_unfinished_shard_its_attempts_back(make_run: RunMaker) -> None:
    run = make_run()
    claim_shard(worker="w")
    cancel_run(run=run)
    Shard.objects.filter(run=run, index=0).update(status=ShardStatus.FAILED, attempts=3, error="x")
    resume_run(run=run)
    assert set(run.shards.values_list("status", "attempts", "error")) == {
        (ShardStatus.PENDING, 0, "")
    }
