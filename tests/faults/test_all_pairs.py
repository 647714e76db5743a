"""A worker is killed in a run over all paired groups of a set: nothing is lost or doubled."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from annotation.library.paired_groups import create_paired_groups
from annotation.models import GroupSet, SocialGroup
from probing.models import Run, RunEventKind, RunStatus, ShardStatus
from probing.runs.stimuli import load_stimuli
from probing.runs.worker import work
from tests.faults.conftest import WorkerProcess
from tests.probing.runs.fixtures import RunMaker, scores_of

pytestmark = [pytest.mark.shared, pytest.mark.services, pytest.mark.slow]

SINGLE_GROUPS = ["asian", "black", "white", "man", "woman", "elderly", "teenager", "wealthy"]
SINGLE_GROUPS += ["immigrant", "veteran", "jewish", "autistic", "blind", "doctor"]


@pytest.fixture
def make_run_of_pairs(make_run: RunMaker) -> Callable[[], Run]:
    """Create a run over all pairs that fourteen groups allow, with all adjectives."""

    def make() -> Run:
        chosen = GroupSet.objects.create(slug="few", title="Few groups")
        chosen.groups.set(SocialGroup.objects.filter(slug__in=SINGLE_GROUPS))
        paired = create_paired_groups(group_set=chosen)
        chosen.delete()
        stimuli = load_stimuli(groups=paired.group_set.slug, templates="that-group-is-trait")
        return make_run("set", stimuli=stimuli, groups_per_shard=2)

    return make


def test_a_worker_killed_among_all_pairs_loses_and_doubles_nothing(
    worker: WorkerProcess,
    make_run_of_pairs: Callable[[], Run],
    wait_until: Callable[..., None],
) -> None:
    undisturbed = make_run_of_pairs()
    work(worker="undisturbed", run=undisturbed)

    run = make_run_of_pairs()
    stored = run.shards.filter(status=ShardStatus.STORED)
    worker.start()
    wait_until(lambda: stored.count() >= run.shard_count // 4)
    worker.kill()
    finished_before = dict(stored.values_list("index", "stored_at"))
    assert len(finished_before) < run.shard_count, "the run was over before it was disturbed"

    worker.start()
    wait_until(lambda: Run.objects.get(pk=run.pk).status == RunStatus.FINISHED)
    found = scores_of(run)
    groups, traits = (len(run.stimuli[kind]) for kind in ("groups", "traits"))
    assert groups > 80, "the pairs of 14 groups, less those that exclude each other"
    # One score for the template, and one for the mean over templates.
    assert len(found) == run.scores.count() == groups * traits * 2
    assert found == scores_of(undisturbed), "equal to the last bit"
    events = run.events.filter(kind=RunEventKind.STORED).order_by("shard_index")
    indices = list(events.values_list("shard_index", flat=True))
    assert indices == list(range(run.shard_count)), "every shard stored once"
    kept = stored.filter(index__in=finished_before).values_list("index", "stored_at")
    assert dict(kept) == finished_before, "what was stored is not computed again"
