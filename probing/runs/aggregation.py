"""Turns the stored shards of a complete run into results."""

from __future__ import annotations

import platform
import traceback
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import django.db
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from probing.measures.base import ResultKind
from probing.models import Run, RunEventKind, RunStatus, Shard, ShardStatus
from probing.runs.events import log_event
from probing.runs.failure import fail_run
from probing.runs.leases import OPEN
from probing.runs.parameters import load_inputs, load_shard_frames
from probing.runs.result_storage import STORE, Row
from probing.runs.signals import run_finished

LIBRARIES = ("torch", "transformers", "tokenizers", "peft", "numpy", "scipy", "pandas")


def complete_runs() -> QuerySet[Run]:
    """Return the open runs whose shards are all stored, but which have no results. One query."""
    missing = Shard.objects.filter(run=OuterRef("pk")).exclude(status=ShardStatus.STORED)
    return Run.objects.filter(~Exists(missing), status__in=OPEN, shard_count__gt=0).order_by("pk")


def finish_complete_runs() -> int:
    """Aggregate every complete run, such as one whose last worker died; return how many."""
    return sum(aggregate_run(run) for run in complete_runs())


def aggregate_run(run: Run) -> bool:
    """Store the results of a complete run and finish it; False if there was nothing to do.

    Safe to call at any time and from any number of workers: results and the new state are stored
    together under the run's lock, once. What the measure raises fails the run.
    """
    if not complete_runs().filter(pk=run.pk).exists():
        return False
    try:
        return _store(run, _aggregate(run))
    except (django.db.OperationalError, django.db.InterfaceError):
        raise  # the database is away: the sweep comes back to it
    except Exception:
        fail_run(run=run, reason="its shards could not be aggregated", error=traceback.format_exc())
        return False


@dataclass(frozen=True)
class _Aggregate:
    kind: ResultKind
    rows: list[Row]
    remarks: list[str]


def _aggregate(run: Run) -> _Aggregate:
    inputs = load_inputs(run)
    given = (inputs.stimuli, inputs.parameters, load_shard_frames(run))
    rows: Any = inputs.measure.aggregate(*given).to_dict(orient="records")
    if not rows:
        raise ValueError(f"{inputs.measure.title} gave no result at all")
    return _Aggregate(kind=inputs.measure.result, rows=rows, remarks=inputs.measure.remarks(*given))


def _store(run: Run, result: _Aggregate) -> bool:
    with transaction.atomic():
        locked = Run.objects.select_for_update(no_key=True).get(pk=run.pk)
        if locked.status not in OPEN:
            return False  # another worker was faster, or the run was canceled meanwhile
        stored = STORE[result.kind](locked, result.rows)
        devices = locked.shards.order_by("device").values_list("device", flat=True).distinct()
        locked.status = RunStatus.FINISHED
        locked.finished_at = timezone.now()
        locked.device = "; ".join(devices)[:60]
        locked.library_versions = library_versions()
        locked.error = ""
        locked.notices = [*locked.notices, *result.remarks]
        locked.save(
            update_fields=[
                "status",
                "finished_at",
                "device",
                "library_versions",
                "error",
                "notices",
            ]
        )
        log_event(run_id=run.pk, kind=RunEventKind.FINISHED, message=f"finished, {stored}")
        transaction.on_commit(lambda: run_finished.send_robust(sender=Run, run=locked))
        return True


def library_versions() -> dict[str, str]:
    """Return the versions of what the numbers depend on, without importing any of it."""
    return {
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in LIBRARIES},
    }
