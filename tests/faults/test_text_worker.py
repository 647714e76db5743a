"""A worker is killed while a model writes: every counterpart is stored once, and the same."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from django.db.models import Count

from annotation.models import Counterpart
from probing.models import Run, RunStatus, ShardStatus
from probing.runs.worker import work
from tests.faults.conftest import WorkerProcess
from tests.probing.runs.text_fixtures import (
    TextRunMaker,
    add_pair,
    corpus,  # noqa: F401
    make_text_run,  # noqa: F401
    model_of,  # noqa: F401
)

pytestmark = [pytest.mark.shared, pytest.mark.services, pytest.mark.slow]


def counterparts(run: Run) -> dict[tuple[int, str], tuple[str, str]]:
    found = Counterpart.objects.filter(run=run.public_id)
    return {(one.text_id, one.variety): (one.body, one.reason) for one in found}


def test_a_killed_worker_stores_every_counterpart_once(
    shared_database: str,
    worker: WorkerProcess,
    corpus,  # noqa: F811
    make_text_run: TextRunMaker,  # noqa: F811
    wait_until: Callable[..., None],
    checkpoints: Path,
) -> None:
    for number in range(40):
        add_pair(corpus, f"more{number}", (f"he {number} be here", f"he {number} is here"))
    undisturbed = make_text_run("counterpart_generation", max_new_tokens=20)
    work(worker="undisturbed", run=undisturbed)
    expected = counterparts(undisturbed)
    assert len(expected) == 88

    run = make_text_run("counterpart_generation", max_new_tokens=20)
    worker.start()
    wait_until(lambda: run.shards.filter(status=ShardStatus.STORED).count() >= 5)
    worker.kill()
    assert not counterparts(run), "nothing is stored before the run is complete"

    worker.start()
    wait_until(lambda: Run.objects.get(pk=run.pk).status == RunStatus.FINISHED)
    assert counterparts(run) == expected
    doubled = (
        Counterpart.objects.filter(run=run.public_id)
        .values("text", "variety")
        .annotate(number=Count("pk"))
        .filter(number__gt=1)
    )
    assert not doubled.exists()
