"""Many workers at once: no shard is computed twice, and a run is aggregated once."""

from __future__ import annotations

from collections.abc import Callable
from threading import Barrier, Event, Semaphore, Thread
from typing import Any

import pytest
from django.db import connection
from django.db.models import Count

from probing.models import RunEvent, RunEventKind, RunStatus, ShardStatus
from probing.runs.aggregation import aggregate_run
from probing.runs.control import cancel_run, resume_run
from probing.runs.leases import claim_shard
from probing.runs.stimuli import load_stimuli
from probing.runs.worker import compute_shard, work
from tests.probing.runs.fixtures import RunMaker, scores_of

pytestmark = [pytest.mark.shared, pytest.mark.services]

WORKERS = 6


def at_once(call: Callable[[int], Any], number: int = WORKERS) -> list[Any]:
    """Call from threads that begin together, each with its own connection; return the results."""
    barrier, results = Barrier(number), [None] * number
    failures: list[BaseException] = []

    def body(place: int) -> None:
        try:
            barrier.wait()
            results[place] = call(place)
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [Thread(target=body, args=(place,)) for place in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return results


def test_every_shard_is_claimed_by_exactly_one_of_many_workers(
    shared_database: str, make_run: RunMaker
) -> None:
    stimuli = load_stimuli(
        groups="cao-2022-human-study",
        templates=["that-group-is-trait", "all-groups-are-trait"],
        traits=["cold-warm"],
    )
    run = make_run(stimuli=stimuli)
    assert run.shard_count == 50

    def claim_all(place: int) -> list[int]:
        claimed = []
        while shard := claim_shard(worker=f"w{place}"):
            claimed.append(shard.index)
        return claimed

    claimed = sorted(index for indices in at_once(claim_all) for index in indices)
    assert claimed == list(range(50))
    assert set(run.shards.values_list("attempts", "status")) == {(1, ShardStatus.LEASED)}


def test_workers_side_by_side_give_the_scores_of_one_worker(
    shared_database: str, make_run: RunMaker
) -> None:
    alone, together = make_run(), make_run()
    work(worker="w", run=alone)
    at_once(lambda place: work(worker=f"w{place}", run=together))
    together.refresh_from_db()
    assert together.status == RunStatus.FINISHED, together.error
    assert scores_of(together) == scores_of(alone)
    events = RunEvent.objects.filter(run=together).order_by()
    for kind in (RunEventKind.CLAIMED, RunEventKind.STORED):
        counted = events.filter(kind=kind).values("shard_index").annotate(number=Count("pk"))
        assert {row["number"] for row in counted} == {1}
    assert events.filter(kind=RunEventKind.FINISHED).count() == 1


def test_two_workers_that_finish_at_once_aggregate_once(
    shared_database: str, make_run: RunMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run()
    with monkeypatch.context() as moment:
        # Holds the run in the moment between its last store and its aggregation.
        moment.setattr("probing.runs.shard_computation.aggregate_run", lambda run: None)
        while shard := claim_shard(worker="w"):
            compute_shard(shard)
    results = at_once(lambda _: aggregate_run(run))
    assert sorted(results) == [False] * (WORKERS - 1) + [True]
    assert run.events.filter(kind=RunEventKind.FINISHED).count() == 1
    assert run.scores.count() == 4 * 2 * 3


def test_canceling_and_resuming_while_workers_compute_loses_nothing(
    shared_database: str, make_run: RunMaker
) -> None:
    rounds, workers = 6, 4
    stimuli = load_stimuli(
        groups="cao-2022-human-study", templates=["that-group-is-trait"], traits=["cold-warm"]
    )
    calm, run = make_run(stimuli=stimuli), make_run(stimuli=stimuli)
    work(worker="w", run=calm)
    # A ticket allows one claim. While it is steered the run gets fewer tickets than it has shards,
    # so that there is always something left to cancel.
    assert rounds * workers < run.shard_count
    tickets, begun, is_steered = Semaphore(0), Semaphore(0), Event()

    def wait_for_ticket() -> bool:
        if not is_steered.is_set():
            tickets.acquire()
            begun.release()
        return False

    def steer() -> None:
        try:
            for _ in range(rounds):
                tickets.release(workers)
                for _ in range(workers):
                    begun.acquire()
                cancel_run(run=run)
                resume_run(run=run)
        finally:
            is_steered.set()
            tickets.release(workers)

    def steer_or_work(place: int) -> None:
        if not place:
            steer()
        while not is_steered.is_set():  # who asks while the run is canceled finds nothing
            work(worker=f"w{place}", run=run, should_stop=wait_for_ticket)

    at_once(steer_or_work, 1 + workers)
    work(worker="last", run=run)
    run.refresh_from_db()
    assert run.status == RunStatus.FINISHED, run.error
    for kind in (RunEventKind.CANCELED, RunEventKind.RESUMED):
        assert run.events.filter(kind=kind).count() == rounds
    assert scores_of(run) == scores_of(calm)
