"""The work of a worker: claim, compute, store, until nothing is left."""

from __future__ import annotations

import math
import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass

from annotation.common.log_context import logging_as, run_id
from probing.models import Run
from probing.runs.aggregation import finish_complete_runs
from probing.runs.leases import claim_shard
from probing.runs.shard_computation import compute_shard


@dataclass(frozen=True)
class WorkDone:
    """Result of one call of :func:`work`.

    Attributes
    ----------
    shards : number of shards that it claimed.
    exhausted : whether it ended because nothing was left.
    """

    shards: int
    exhausted: bool


def work(
    *,
    worker: str,
    budget_seconds: float = math.inf,
    should_stop: Callable[[], bool] = lambda: False,
    run: Run | None = None,
) -> WorkDone:
    """Compute waiting shards until none is left, the time is up, or it is told to stop.

    Takes the shards of any run, or only those of ``run``. A shard that was begun is always
    finished, so that the budget may be exceeded by one shard.
    """
    begun = time.monotonic()
    finish_complete_runs()
    shards = 0
    while time.monotonic() - begun < budget_seconds and not should_stop():
        shard = claim_shard(worker=worker, run=run)
        if shard is None:
            return WorkDone(shards=shards, exhausted=True)
        with logging_as(run_id, shard.run.public_id):
            compute_shard(shard)
        shards += 1
    return WorkDone(shards=shards, exhausted=False)


def worker_name(hostname: str | None = None) -> str:
    """Return the name of this process among all workers, such as ``gpu-1-4711``.

    ``hostname`` is Celery's name of the worker; the process id tells its pool's processes apart.
    """
    host = (hostname or socket.gethostname()).removeprefix("celery@")
    return f"{host[:100]}-{os.getpid()}"
