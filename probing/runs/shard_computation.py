"""Computes a claimed shard and stores its result, guarded by the lease."""

from __future__ import annotations

import time
import traceback
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

import django.db
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from annotation.common.database_errors import is_away
from annotation.common.lazy import pd
from probing.lm.errors import BatchPendingError
from probing.models import ModelKind, Run, RunEventKind, Shard, ShardStatus
from probing.runs.aggregation import aggregate_run
from probing.runs.certificates import certify_loaded
from probing.runs.events import log_event
from probing.runs.failure import fail_shard
from probing.runs.heartbeat import keep_lease
from probing.runs.leases import OPEN, held_by, pause_shard, release_shard
from probing.runs.loaded_models import LoadedModel, load_apart, load_model
from probing.runs.number_formats import REFERENCE, TRAINING, describe_error
from probing.runs.parameters import RunInputs, load_inputs, to_parquet
from probing.runs.served_models import prepare_server
from probing.runs.trained_models import open_training
from probing.training.errors import TrainingPausedError, TrainingStoppedError


class ShardOutcome(Enum):
    """The outcome of a claimed shard."""

    STORED = "stored"
    COMPLETED = "stored, and the last of its run"
    FAILED = "failed"
    RELEASED = "given back to go on from later, after a stop or until a batch is answered"
    LOST = "its lease went to another worker or its run was closed; nothing was stored"


@dataclass(frozen=True)
class ShardResult:
    """What a worker computed.

    Attributes
    ----------
    blob : one Parquet file with ``rows`` rows.
    seconds : time that the measure took, without loading the model.
    device, model_revision : where it was computed, and with which weights.
    remark : what is worth knowing of the whole run.
    """

    blob: bytes
    rows: int
    seconds: float
    device: str
    model_revision: str
    remark: str = ""


class ModelChangedError(Exception):
    """The model is no longer the one that the run began with."""


def compute_shard(shard: Shard) -> ShardOutcome:
    """Compute a shard that the caller has claimed, store it, and finish its run if it is the last.

    Whatever the measure or the model raises is kept with the shard and uses up the attempt. If
    the process is told to stop meanwhile, the shard goes back as if it had not been claimed; a
    training saves its state before.
    """
    try:
        with keep_lease(shard):
            result = _compute(shard)
        outcome = store_shard(shard=shard, result=result)
    except (django.db.OperationalError, django.db.InterfaceError) as error:
        # A database that is away or full is not the shard's fault: no attempt is used up by it.
        # Where not even this can be written, the lease lapses.
        if is_away(error):
            with suppress(django.db.Error):
                release_shard(shard)
        raise
    except TrainingPausedError:
        release_shard(shard)
        return ShardOutcome.RELEASED
    except BatchPendingError as pending:
        again = timezone.now() + timedelta(seconds=pending.seconds)
        pause_shard(shard, pending.seconds, f"{pending} It is asked again at {again:%H:%M:%S}.")
        return ShardOutcome.RELEASED
    except TrainingStoppedError:
        return ShardOutcome.LOST
    except Exception:
        failed = fail_shard(shard=shard, error=traceback.format_exc())
        return ShardOutcome.FAILED if failed else ShardOutcome.LOST
    except BaseException:
        release_shard(shard)
        raise
    if outcome is ShardOutcome.COMPLETED:
        aggregate_run(shard.run)
    return outcome


def _compute(shard: Shard) -> ShardResult:
    inputs = load_inputs(shard.run)
    loaded = _open_model(shard, inputs)
    begun = time.perf_counter()
    frame = inputs.measure.compute(shard.payload, inputs.stimuli, inputs.parameters, loaded.lm)
    seconds = time.perf_counter() - begun
    remark = _compare_numbers(shard, inputs, frame) if shard.index == 0 else ""
    return ShardResult(
        blob=to_parquet(frame),
        rows=len(frame),
        seconds=seconds,
        device=loaded.device,
        model_revision=loaded.revision,
        remark=remark,
    )


def _open_model(shard: Shard, inputs: RunInputs) -> LoadedModel:
    if inputs.measure.abilities & TRAINING:
        return open_training(shard)
    if shard.run.model.kind == ModelKind.CHAT:
        prepare_server(shard.run)
    loaded = load_model(shard.run.model, inputs.measure.abilities, run=shard.run)
    if shard.run.dtype in ("", settings.MODEL_DTYPE):
        certify_loaded(shard.run.model, loaded)
    return loaded


def _compare_numbers(shard: Shard, inputs: RunInputs, frame: pd.DataFrame) -> str:
    """Return how far a shard's values are from those in float32; "" if they are in that."""
    run, measure = shard.run, inputs.measure
    if run.dtype in ("", REFERENCE):
        return ""
    from probing.lm.weights import memory_errors

    try:
        exact = load_apart(run.model, measure.abilities, REFERENCE)
        certify_loaded(run.model, exact)
        values = measure.compute(shard.payload, inputs.stimuli, inputs.parameters, exact.lm)
    except memory_errors():
        return f"There was no memory to compare {run.dtype} with {REFERENCE}."
    return describe_error(run.dtype, frame, values)


def store_shard(*, shard: Shard, result: ShardResult) -> ShardOutcome:
    """Store result and state in one transaction, if the lease still stands.

    The run's row is locked, so that of all the workers of a run exactly one learns that it
    stored the last shard. Raises :class:`ModelChangedError` if the weights differ from those of
    the shards stored before.
    """
    with transaction.atomic():
        # Stimuli can be long, and are not needed here.
        runs = Run.objects.select_for_update(no_key=True).defer("stimuli")
        run = runs.get(pk=shard.run_id)
        if run.status not in OPEN:
            return ShardOutcome.LOST
        if run.model_revision and run.model_revision != result.model_revision:
            raise ModelChangedError(
                f"The model at “{run.model.location}” changed since this run began: it was "
                f"{run.model_revision}, now it is {result.model_revision}. Create a new run."
            )
        stored = held_by(shard).update(
            status=ShardStatus.STORED,
            result=result.blob,
            seconds=result.seconds,
            device=result.device,
            stored_at=timezone.now(),
            lease_until=None,
        )
        if not stored:
            return ShardOutcome.LOST
        if not run.model_revision or result.remark:
            run.model_revision = result.model_revision
            run.notices += [result.remark] if result.remark else []
            run.save(update_fields=["model_revision", "notices"])
        log_event(
            run_id=run.pk,
            kind=RunEventKind.STORED,
            shard=shard,
            message=f"stored, {result.rows} values, {result.seconds:.1f} s",
        )
        missing = run.shards.exclude(status=ShardStatus.STORED).exists()
        return ShardOutcome.STORED if missing else ShardOutcome.COMPLETED
