"""A worker is killed in the middle of a run, messages are lost: nothing is lost or doubled."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest
import redis
from django.conf import settings
from kombu import Connection

from probing.models import LanguageModel, Run, RunEventKind, RunStatus, ShardStatus
from probing.runs.stimuli import load_stimuli
from probing.runs.worker import work
from tests.faults.conftest import WorkerProcess
from tests.probing.runs.fixtures import RunMaker, scores_of

pytestmark = [pytest.mark.shared, pytest.mark.services, pytest.mark.slow]

Wait = Callable[..., None]

TEMPLATES = [
    "that-group-is-trait",
    "groups-should-be-trait",
    "all-groups-are-trait",
    "groups-ought-to-be-trait",
]


@pytest.fixture
def make_long_run(make_run: RunMaker) -> Callable[[], Run]:
    """Create a run of a hundred small shards, so that there is a middle to be killed in."""

    def make() -> Run:
        stimuli = load_stimuli(groups="cao-2022-human-study", templates=TEMPLATES)
        return make_run("set", stimuli=stimuli)

    return make


def stored(run: Run) -> int:
    return run.shards.filter(status=ShardStatus.STORED).count()


def status(run: Run) -> str:
    return Run.objects.values_list("status", flat=True).get(pk=run.pk)


def lose_messages(worker: WorkerProcess) -> None:
    """Empty the broker as a disk that was wiped, or a Redis without persistence, would be."""
    queue = settings.CELERY_TASK_DEFAULT_QUEUE
    if settings.CELERY_BROKER_URL.startswith("redis"):
        redis.Redis.from_url(settings.CELERY_BROKER_URL).delete(queue)
    elif settings.CELERY_BROKER_URL.startswith("amqp"):
        with Connection(settings.CELERY_BROKER_URL) as link:
            link.default_channel.queue_purge(queue)
    else:
        shutil.rmtree(worker.broker_folder, ignore_errors=True)


@pytest.mark.smoke
def test_a_killed_worker_loses_no_work_and_changes_no_score(
    worker: WorkerProcess, make_long_run: Callable[[], Run], wait_until: Wait
) -> None:
    undisturbed = make_long_run()
    work(worker="undisturbed", run=undisturbed)

    run = make_long_run()
    worker.start()
    wait_until(lambda: stored(run) >= 10)
    worker.kill()
    interrupted = stored(run)
    assert interrupted < run.shard_count, "the run was over before it could be disturbed"
    assert status(run) == RunStatus.RUNNING
    finished_before = set(run.shards.filter(status=ShardStatus.STORED).values_list("index"))

    worker.start()
    wait_until(lambda: status(run) == RunStatus.FINISHED)
    run.refresh_from_db()
    assert scores_of(run) == scores_of(undisturbed), "equal to the last bit"
    assert run.events.filter(kind=RunEventKind.STORED).count() == run.shard_count
    repeated = set(run.shards.filter(attempts__gt=1).values_list("index"))
    assert not repeated & finished_before, "stored shards are not computed again"
    assert len(repeated) <= 1, "one worker had at most one shard in hand"


def test_lost_messages_are_found_by_the_sweep(
    worker: WorkerProcess, make_run: RunMaker, wait_until: Wait
) -> None:
    first = make_run()
    lose_messages(worker)
    worker.start()
    wait_until(lambda: status(first) == RunStatus.FINISHED)

    # The worker is idle now. Its broker vanishes under it, and the next run's message with it.
    second = make_run()
    lose_messages(worker)
    wait_until(lambda: status(second) == RunStatus.FINISHED)
    assert worker.is_running()
    assert scores_of(first) == scores_of(second)


def test_a_worker_that_is_told_to_stop_leaves_no_shard_half_done(
    worker: WorkerProcess, make_long_run: Callable[[], Run], wait_until: Wait
) -> None:
    run = make_long_run()
    worker.start()
    wait_until(lambda: stored(run) >= 3)
    worker.stop()
    assert stored(run) < run.shard_count, "it did not go on to the end of the run"
    assert not run.shards.filter(status=ShardStatus.LEASED).exists()
    assert not run.shards.filter(status=ShardStatus.PENDING, attempts__gt=0).exists()
    assert not run.events.filter(kind=RunEventKind.LAPSED).exists()


def test_a_run_is_created_although_the_broker_is_away(
    worker: WorkerProcess, bert: LanguageModel
) -> None:
    # Port 1 of the own machine: nothing listens there, and the system says so at once.
    away = "redis://127.0.0.1:1/0"
    asked = ("probe", "--model", bert.name, "--groups", "man", "--no-wait")
    answer = worker.manage(*asked, CELERY_BROKER_URL=away)
    assert answer.returncode == 0, answer.stderr
    assert Run.objects.get().status == RunStatus.WAITING
    assert "the next sweep finds the work" in answer.stderr


def test_the_command_line_follows_a_run_of_the_workers(
    worker: WorkerProcess, bert: LanguageModel, wait_until: Wait
) -> None:
    worker.start()
    wait_until(lambda: worker.log.exists() and "ready." in worker.log.read_text())
    answer = worker.manage("probe", "--model", bert.name, "--groups", "man", "woman")
    assert answer.returncode == 0, answer.stderr
    run = Run.objects.get()
    assert run.status == RunStatus.FINISHED
    assert "No worker answers" not in answer.stdout
    assert f"Run {run.pk} is finished" in answer.stdout
    # The worker's processes name themselves; the command would have used its own.
    names = set(run.shards.values_list("worker", flat=True))
    assert len(names) == 1
    assert run.shards.exclude(status=ShardStatus.STORED).count() == 0
