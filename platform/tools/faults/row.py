"""One installation, one fault after the other, and what is stored after each."""

from __future__ import annotations

import asyncio
import logging
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

from django.db import connection

from annotation.models import Study
from probing.models import Run
from tools.faults.crowd import Crowd, count_people
from tools.faults.injections import FAULTS, Fault, Scene, find_obstacle
from tools.faults.installation import Installation
from tools.faults.runs_at_work import RunsAtWork, count_stored
from tools.load.checking import check_study
from tools.load.studies import make_survey

PARTICIPANTS = 6


def disturb(
    installation: Installation,
    names: list[str],
    *,
    steps: int,
    keep: Callable[[list[dict[str, Any]]], None],
) -> None:
    """Make a row for each fault; a fault that cannot be made has its reason in ``skipped``.

    ``keep`` is given the rows so far after each. Raises `FaultsError` where a run stands still.
    """
    logging.getLogger("celery").setLevel(logging.CRITICAL)
    runs, numbers = RunsAtWork(installation), count_people()
    rows: list[dict[str, Any]] = []
    for name in names:
        head = {"setup": installation.setup.name, "fault": FAULTS[name].title}
        if obstacle := find_obstacle(name, installation):
            rows.append(head | {"skipped": obstacle})
        else:
            staging = _Staging(installation, runs, numbers, steps)
            rows.append(head | asyncio.run(staging.play(FAULTS[name])))
        keep(rows)


class _Staging:
    def __init__(
        self, installation: Installation, runs: RunsAtWork, numbers: Iterator[int], steps: int
    ) -> None:
        self.installation, self.runs = installation, runs
        self.numbers, self.steps = numbers, steps

    async def play(self, fault: Fault) -> dict[str, Any]:
        """Let people and a run begin, make the fault, let them come to their end, and count."""
        study = await asyncio.to_thread(make_survey, fault.title)
        newest = await asyncio.to_thread(_newest_run)
        crowd = Crowd(self.installation.port, study.get_absolute_url(), self.numbers)
        scene = Scene(self.installation, crowd.watch, self.steps, count_stored)
        is_over = Event()
        people = asyncio.create_task(crowd.take_surveys(PARTICIPANTS, unruly=fault.is_unruly))
        working = asyncio.create_task(asyncio.to_thread(self.runs.keep_going, is_over))
        try:
            times = await fault.inject(scene)
        finally:
            crowd.is_over = True
            is_over.set()
            await asyncio.gather(people, working)
        return await asyncio.to_thread(self._count, study, crowd, newest, times)

    def _count(self, study: Study, crowd: Crowd, newest: int, times: int) -> dict[str, Any]:
        self.runs.wait_for_all()
        runs = list(Run.objects.filter(pk__gt=newest))
        findings = check_study(study, crowd.visits)
        counted = {
            "times": times,
            "surveys": sum(visit.is_complete for visit in crowd.visits),
            "pages": crowd.watch.pages,
            "stored": findings.stored,
            "lost": findings.lost,
            "doubled": findings.doubled,
            "wrong": findings.misplaced + findings.strange,
            "errors": dict(crowd.watch.errors),
            "refused": dict(crowd.watch.refused),
            "runs": len(runs),
            "different": self.runs.count_different(runs),
            "longest_seconds": round(crowd.watch.longest, 1),
            "line": dict(crowd.counts),
        }
        connection.close()
        return counted


def _newest_run() -> int:
    newest = Run.objects.order_by("-pk").values_list("pk", flat=True).first()
    connection.close()
    return newest or 0


def keep_logs(folder: Path, place: Path) -> None:
    """Copy the logs of an installation to where somebody can read them afterwards."""
    place.mkdir(parents=True, exist_ok=True)
    for log in folder.rglob("*.log"):
        shutil.copy(log, place / log.name)
