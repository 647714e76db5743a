"""One contract over every measure of groups and templates, through the engine."""

from __future__ import annotations

import math

import pytest

from probing.measures.registry import MEASURES
from probing.measures.stimuli import Stimuli
from probing.models import RunStatus, ShardStatus
from probing.runs.creation import dry_run
from probing.runs.worker import work
from tests.probing.runs.fixtures import RunMaker, few_stimuli, scores_of

#: Measures of texts have a contract of their own.
SLOT_MEASURES = [name for name, entry in MEASURES.items() if entry.stimuli_type is Stimuli]

pytestmark = [pytest.mark.django_db, pytest.mark.shared]


@pytest.mark.services
@pytest.mark.parametrize("measure", SLOT_MEASURES)
def test_every_measure_goes_through_the_engine(measure: str, make_run: RunMaker) -> None:
    run = make_run(measure)
    work(worker="w", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    assert run.device == "cpu, float32"
    assert run.model_revision.startswith("sha256:")
    assert {"torch", "transformers", "numpy"} <= set(run.library_versions)
    assert run.started_at is not None
    assert run.finished_at is not None
    assert not run.shards.exclude(status=ShardStatus.STORED).exists()

    scores = scores_of(run)
    # 4 groups x 2 traits, for each of 2 templates and for their mean.
    assert len(scores) == 4 * 2 * (2 + 1)
    for value, reason, n in scores.values():
        assert (value is None) == bool(reason)
        assert value is None or (math.isfinite(value) and n > 0)


@pytest.mark.parametrize("measure", SLOT_MEASURES)
def test_a_dry_run_counts_the_shards_that_are_planned(measure: str, make_run: RunMaker) -> None:
    run = make_run(measure)
    tried = dry_run(
        measure=measure, model=run.model, stimuli=few_stimuli(), parameters=run.parameters
    )
    assert tried.problems == ()
    assert tried.cost is not None
    assert tried.cost.shards == run.shard_count == run.shards.count()
    assert tried.seconds is None
    work(worker="w", run=run)
    again = dry_run(
        measure=measure, model=run.model, stimuli=few_stimuli(), parameters=run.parameters
    )
    assert again.seconds is not None
    assert again.seconds > 0


@pytest.mark.parametrize("measure", SLOT_MEASURES)
def test_the_size_of_shards_does_not_change_scores(measure: str, make_run: RunMaker) -> None:
    small, large = make_run(measure), make_run(measure, groups_per_shard=3)
    work(worker="w")
    first, second = scores_of(small), scores_of(large)
    assert first.keys() == second.keys()
    for key, (value, _, _) in first.items():
        assert value == pytest.approx(second[key][0], abs=1e-5)
