"""What goes wrong is kept with the shard; the third time it stops the run, which can be mended."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file, save_file

from probing.measures.registry import MEASURES
from probing.models import LanguageModel, RunEventKind, RunStatus, Score, ShardStatus
from probing.runs.aggregation import aggregate_run, finish_complete_runs
from probing.runs.control import resume_run
from probing.runs.leases import claim_shard
from probing.runs.shard_computation import ShardOutcome
from probing.runs.worker import compute_shard, work
from tests.probing.runs.fixtures import RunMaker, scores_of

pytestmark = [pytest.mark.django_db, pytest.mark.shared, pytest.mark.services]


def weights(model: LanguageModel) -> Path:
    return Path(model.location) / "model.safetensors"


def test_three_failures_of_a_shard_fail_the_run_with_its_traceback(
    make_run: RunMaker, own_copy: LanguageModel
) -> None:
    run = make_run(model=own_copy)
    intact = weights(own_copy).read_bytes()
    weights(own_copy).write_bytes(intact[:1000])
    done = work(worker="w", run=run)
    run.refresh_from_db()
    shard = run.shards.get(index=0)
    assert done.shards == 3
    assert run.status == RunStatus.FAILED
    assert (shard.status, shard.attempts) == (ShardStatus.FAILED, 3)
    assert "Traceback" in shard.error
    assert "ModelFilesError" in shard.error
    assert own_copy.location in run.error
    assert run.finished_at is not None
    assert run.events.filter(kind=RunEventKind.ERROR).count() == 3
    assert run.events.filter(kind=RunEventKind.FAILED).count() == 1
    assert not Score.objects.filter(run=run).exists()

    weights(own_copy).write_bytes(intact)
    resume_run(run=run)
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED
    assert run.error == ""
    calm = make_run()
    work(worker="w", run=calm)
    assert scores_of(run) == scores_of(calm)


def test_a_failure_is_forgiven_when_the_next_attempt_succeeds(
    make_run: RunMaker, own_copy: LanguageModel
) -> None:
    run = make_run(model=own_copy)
    moved = Path(own_copy.location).with_name("away")
    shutil.move(own_copy.location, moved)
    shard = claim_shard(worker="w")
    assert shard is not None
    assert compute_shard(shard) is ShardOutcome.FAILED
    shutil.move(moved, own_copy.location)
    work(worker="w", run=run)
    run.refresh_from_db()
    repeated = run.shards.get(index=0)
    assert run.status == RunStatus.FINISHED
    assert repeated.attempts == 2
    assert "ModelNotFoundError" in repeated.error, "what went wrong stays readable"


def test_a_model_that_changes_in_the_middle_is_not_mixed_in(
    make_run: RunMaker, own_copy: LanguageModel
) -> None:
    run = make_run(model=own_copy)
    first = claim_shard(worker="w")
    assert first is not None
    compute_shard(first)
    tensors = load_file(weights(own_copy))
    name = next(name for name, tensor in tensors.items() if tensor.ndim == 2)
    tensors[name] = tensors[name] + np.float32(0.01)
    save_file(tensors, weights(own_copy), metadata={"format": "pt"})
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert "changed since this run began" in run.error
    assert run.shards.filter(status=ShardStatus.STORED).count() == 1


def test_a_run_whose_last_worker_died_before_aggregation_is_finished_by_another(
    make_run: RunMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run()

    def die(_: object) -> None:
        raise SystemExit(9)

    with monkeypatch.context() as moment:
        moment.setattr("probing.runs.shard_computation.aggregate_run", die)
        with pytest.raises(SystemExit):
            work(worker="dies", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.RUNNING
    assert finish_complete_runs() == 1
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED
    assert run.scores.exists()


def test_aggregating_twice_is_aggregating_once(make_run: RunMaker) -> None:
    run = make_run()
    assert not aggregate_run(run), "shards are missing"
    work(worker="w", run=run)
    before = scores_of(run)
    assert not aggregate_run(run)
    assert finish_complete_runs() == 0
    assert scores_of(run) == before
    assert run.events.filter(kind=RunEventKind.FINISHED).count() == 1


def test_results_that_cannot_be_aggregated_fail_the_run_once(make_run: RunMaker) -> None:
    run = make_run()
    while (shard := claim_shard(worker="w")) and shard.index < run.shard_count - 1:
        compute_shard(shard)
    assert shard is not None
    # A damaged blob: a disk error, or a hand in the database.
    run.shards.filter(index=0).update(result=b"not parquet")
    compute_shard(shard)
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert "could not be aggregated" in run.error
    assert "Traceback" in run.error
    assert not Score.objects.filter(run=run).exists()
    assert finish_complete_runs() == 0, "a failed run is not tried for ever"


def test_a_measure_that_gives_nothing_fails_the_run(
    make_run: RunMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run()
    measure = MEASURES[run.measure]
    monkeypatch.setattr(type(measure), "aggregate", lambda *_: pd.DataFrame())
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FAILED
    assert "gave no result at all" in run.error
