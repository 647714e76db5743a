"""Trains models within a run, and registers what came of it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.utils.text import slugify

from probing.models import LanguageModel, ModelSource, Run, Shard
from probing.runs.graceful_stop import stop_asked
from probing.runs.leases import OPEN, held_by
from probing.runs.loaded_models import LoadedModel
from probing.runs.training_progress import store_point

if TYPE_CHECKING:
    from probing.training.schedule import LossPoint
    from probing.training.trainer import Wish

NAME_LENGTH = 160
FOLDER_NAME_LENGTH = 60


def open_training(shard: Shard) -> LoadedModel:
    """Return the model of the shard's run as one that can be trained further.

    The loss curve is stored while it trains. Before each step the training asks whether the
    shard is still its worker's: a cancelled run stops within a step, and a worker that is told to
    stop saves the state first.

    Raises the errors of :mod:`probing.lm` for a model that is not there.
    """
    from probing.training.trainable import Trainable
    from probing.training.weights import base_revision, device_name

    run = shard.run
    base = run.model
    revision = base_revision(base.location, base.revision)
    watch = _Watch(shard)
    trainable = Trainable(
        location=base.location,
        revision=base.revision,
        base_revision=revision,
        base_name=base.name,
        name=trained_name(run),
        workspace=workspace_of(run),
        target=folder_of(run),
        report=watch.report,
        wish=watch.wish,
        device=settings.MODEL_DEVICE,
        threads=settings.MODEL_THREADS,
    )
    device = f"{device_name(settings.MODEL_DEVICE)}, float32"
    return LoadedModel(lm=trainable, revision=revision, device=device)


@dataclass(frozen=True)
class _Watch:
    """Listens to a training on behalf of the shard's lease."""

    shard: Shard

    def report(self, point: LossPoint) -> None:
        from probing.training.errors import TrainingStoppedError

        # Leave before the checkpoint: a resumed training reports no point before it again.
        if not self._is_ours():
            raise TrainingStoppedError
        store_point(run_id=self.shard.run_id, point=point)

    def wish(self) -> Wish:
        from probing.training.trainer import Wish

        if not self._is_ours():
            return Wish.STOP
        return Wish.PAUSE if stop_asked() else Wish.GO_ON

    def _is_ours(self) -> bool:
        return held_by(self.shard).filter(run__status__in=OPEN).exists()


def store_trained_model(run: Run, rows: Sequence[dict[str, Any]]) -> str:
    """Register the model that ``run`` has trained, once; return what was done, for the log.

    It has the kind of the model that it was trained from, and can be used by other runs at once.
    The checkpoints are removed when the run is finished.
    """
    (row,) = rows
    base = run.model
    place = {"source": ModelSource.PATH, "location": row["folder"], "revision": ""}
    model = LanguageModel.objects.filter(**place).first()
    if model is None:
        model = LanguageModel(
            **place,
            name=_free_name(row["name"], run),
            kind=base.kind,
            family=base.family,
            parameter_count=base.parameter_count,
            is_demo=base.is_demo,
            trained_from=base,
            training_run=run.public_id,
        )
        model.full_clean()
        model.save(force_insert=True)
    workspace = workspace_of(run)
    transaction.on_commit(lambda: shutil.rmtree(workspace, ignore_errors=True))
    return f"the trained model “{model.name}” is registered"


def trained_model_of(run: Run) -> LanguageModel | None:
    """Return the model that ``run`` has trained. One query."""
    return LanguageModel.objects.filter(training_run=run.public_id).first()


def trained_name(run: Run) -> str:
    """Return how the model that ``run`` trains is called."""
    ending = f" (fine-tuned, run {run.pk})"
    return run.model.name[: NAME_LENGTH - len(ending)] + ending


def workspace_of(run: Run) -> Path:
    """Return the folder for the run's checkpoints."""
    return settings.VAR_DIR / "training" / run.public_id


def folder_of(run: Run) -> Path:
    """Return the folder that the run's trained model lies in."""
    name = slugify(run.model.name)[:FOLDER_NAME_LENGTH].strip("-") or "model"
    return (settings.VAR_DIR / "models" / f"{name}-{run.public_id}").resolve()


def _free_name(name: str, run: Run) -> str:
    if not LanguageModel.objects.filter(name=name).exists():
        return name
    ending = f" {run.public_id}"
    return name[: NAME_LENGTH - len(ending)] + ending
