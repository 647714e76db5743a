"""Runs of a small model that go on while something breaks, compared with an undisturbed one."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from threading import Event

from django.db import DatabaseError, connection

from probing.models import LanguageModel, Run, RunStatus, Score, Shard, ShardStatus
from probing.runs.creation import create_run
from probing.runs.language_models import register_model
from tools.bench.slot_checkpoint import Size, make_stimuli, save_checkpoint
from tools.faults.installation import Installation
from tools.faults.processes import PATIENCE_SECONDS, FaultsError, last_words

SIZE = Size(layers=2, hidden=64, heads=2, vocabulary=400, groups=25)
SEED = 7
PAUSE_SECONDS = 0.2
OPEN = (RunStatus.WAITING, RunStatus.RUNNING)
Scores = dict[tuple[str, str, str, str], tuple[float | None, str, int]]


class RunsAtWork:
    """One run after the other, for as long as the installation is disturbed."""

    def __init__(self, installation: Installation) -> None:
        self.installation = installation
        self.deaths = 0
        self._model = _make_model(installation.folder / "checkpoint")
        self.undisturbed = self._run_undisturbed()

    def keep_going(self, is_over: Event) -> None:
        """Create a run whenever none is open, and start a worker that ended by itself."""
        while not is_over.wait(PAUSE_SECONDS):
            try:
                if not Run.objects.filter(status__in=OPEN).exists():
                    self.create()
            except DatabaseError:  # it is away; nothing was promised
                connection.close()
        connection.close()

    def create(self) -> Run:
        return create_run(
            measure="set",
            model=self._model,
            stimuli=make_stimuli(SIZE.groups),
            parameters={"groups_per_shard": 1},
            seed=SEED,
            created_by=None,
        )

    def wait_for_all(self) -> None:
        """Wait until no run is open. Raises `FaultsError` where one stands still."""
        end, stored = time.monotonic() + PATIENCE_SECONDS, -1
        while _insist(Run.objects.filter(status__in=OPEN).count):
            if (now := count_stored()) != stored:
                end, stored = time.monotonic() + PATIENCE_SECONDS, now
            if time.monotonic() > end:
                said = last_words(self.installation.worker.log)
                raise FaultsError(f"A run stands still with {stored} shards stored.\n{said}")
            time.sleep(PAUSE_SECONDS)

    def count_different(self, runs: list[Run]) -> int:
        """Return how many of the runs did not end with the undisturbed run's scores."""
        return sum(
            run.status != RunStatus.FINISHED or read_scores(run) != self.undisturbed for run in runs
        )

    def _run_undisturbed(self) -> Scores:
        run = self.create()
        self.wait_for_all()
        return read_scores(run)


def count_stored() -> int:
    """Return how many shards are stored, however often the database goes away meanwhile."""
    return _insist(lambda: Shard.objects.filter(status=ShardStatus.STORED).count())


def _insist(ask: Callable[[], int]) -> int:
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            return ask()
        except DatabaseError:
            if time.monotonic() > end:
                raise
            time.sleep(PAUSE_SECONDS)
        finally:
            connection.close()  # each thread has its own, and none outlives a killed server


def read_scores(run: Run) -> Scores:
    """Return all scores of a run by what they are scores of. One query."""
    return {
        (score.name, score.group, score.trait, score.template): (
            score.value,
            score.reason,
            score.n,
        )
        for score in Score.objects.filter(run=run)
    }


def _make_model(folder: Path) -> LanguageModel:
    save_checkpoint(folder, SIZE)
    return register_model(location=str(folder))
