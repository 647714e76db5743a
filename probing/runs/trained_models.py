"""Trains models within a run, and registers what came of it.

Checkpoints lie in ``VAR_DIR/training/RUN``, trained models in ``VAR_DIR/models/NAME-RUN``; of runs
with several trainings each has a folder of its own in both. Checkpoints go when the run is
finished, what is not kept of several trainings too, and everything when the run is deleted.
"""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.text import slugify

from probing.measures.base import ResultKind
from probing.measures.registry import MEASURES
from probing.models import LanguageModel, ModelKind, ModelSource, Run, Score, Shard
from probing.runs.graceful_stop import stop_asked
from probing.runs.leases import OPEN, held_by
from probing.runs.loaded_models import LoadedModel
from probing.runs.training_progress import store_point

if TYPE_CHECKING:
    from probing.training.schedule import LossPoint
    from probing.training.trainer import Wish

NAME_LENGTH = 160
#: Results that are weights on the disk.
TRAINING = (ResultKind.TRAINED_MODEL, ResultKind.TRAINED_CLASSIFIERS)
NOT_MEASURED = "there are no validation texts"
FOLDER_NAME_LENGTH = 60


def open_training(shard: Shard) -> LoadedModel:
    """Return the model of the shard's run as one that can be trained further.

    The loss curve is stored while it trains. Before each step the training asks whether the
    shard is still its worker's: a canceled run stops within a step, and a worker that is told to
    stop saves the state first.

    Raises the errors of :mod:`probing.lm` for a model that is not there.
    """
    from probing.training.trainable import Trainable
    from probing.training.trainable_classifier import TrainableClassifier
    from probing.training.weights import base_revision, device_name

    run = shard.run
    base = run.model
    revision = base_revision(base.location, base.revision)
    watch = _Watch(shard)
    kind: type[Trainable | TrainableClassifier] = Trainable
    name, workspace, target = trained_name(run), workspace_of(run), folder_of(run)
    if trains_several(run):
        kind = TrainableClassifier
        number = shard.payload["number"]
        name = trained_name(run, seed=shard.payload["seed"], number=number)
        workspace, target = (folder / f"{number:03d}" for folder in (workspace, target))
    trainable = kind(
        location=base.location,
        revision=base.revision,
        base_revision=revision,
        base_name=base.name,
        name=name,
        workspace=workspace,
        target=target,
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
        number = self.shard.payload.get("number", 0)
        store_point(run_id=self.shard.run_id, point=point, training=number)

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
    model = _register(run, folder=row["folder"], name=row["name"], kind=run.model.kind)
    _remove_later([workspace_of(run)])
    return f"the trained model “{model.name}” is registered"


def store_trained_classifiers(run: Run, rows: Sequence[dict[str, Any]]) -> str:
    """Register the classifiers that are kept, and store how every training did.

    The weights of the others are removed when the run is finished, as the checkpoints are.
    """
    folders = {row["folder"]: row for row in rows}
    kept = [row for row in folders.values() if row["kept"]]
    for row in kept:
        _register(run, folder=row["folder"], name=row["name"], kind=ModelKind.CLASSIFIER)
    Score.objects.bulk_create(
        Score(
            run=run,
            name=row["score"],
            group=f"training {row['number']}",
            trait="all",
            value=row["value"] if math.isfinite(row["value"]) else None,
            reason="" if math.isfinite(row["value"]) else NOT_MEASURED,
            n=row["n"],
        )
        for row in rows
    )
    others = [Path(folder) for folder, row in folders.items() if not row["kept"]]
    _remove_later([workspace_of(run), *others])
    return f"{len(kept)} of {len(folders)} trained classifiers are registered"


def _register(run: Run, *, folder: str, name: str, kind: str) -> LanguageModel:
    base = run.model
    place = {"source": ModelSource.PATH, "location": folder, "revision": ""}
    model = LanguageModel.objects.filter(**place).first()
    if model is None:
        model = LanguageModel(
            **place,
            name=_free_name(name, run),
            kind=kind,
            family=base.family,
            parameter_count=base.parameter_count,
            is_demo=base.is_demo,
            trained_from=base,
            training_run=run.public_id,
        )
        model.full_clean()
        model.save(force_insert=True)
    return model


def trained_models_of(run: Run) -> QuerySet[LanguageModel]:
    """Return the models that ``run`` has trained, in the order of their trainings."""
    return LanguageModel.objects.filter(training_run=run.public_id).order_by("location")


def trained_model_of(run: Run) -> LanguageModel | None:
    """Return the model that ``run`` has trained. One query."""
    return trained_models_of(run).first()


def trained_name(run: Run, *, seed: int | None = None, number: int = 0) -> str:
    """Return how the model that ``run`` trains is called; of several, with number and seed."""
    which = "" if seed is None else f", training {number}, seed {seed}"
    ending = f" (fine-tuned, run {run.pk}{which})"
    return run.model.name[: NAME_LENGTH - len(ending)] + ending


def trains_several(run: Run) -> bool:
    """Whether every shard of the run trains a model of its own."""
    return MEASURES[run.measure].result is ResultKind.TRAINED_CLASSIFIERS


def workspace_of(run: Run) -> Path:
    """Return the folder for the run's checkpoints."""
    return settings.VAR_DIR / "training" / run.public_id


def folder_of(run: Run) -> Path:
    """Return the folder that the run's trained model lies in, or those of its trainings."""
    name = slugify(run.model.name)[:FOLDER_NAME_LENGTH].strip("-") or "model"
    return (settings.VAR_DIR / "models" / f"{name}-{run.public_id}").resolve()


def remove_run_folders(*, instance: Run, **_: Any) -> None:
    """Signal handler: what a deleted run has left on the disk goes, but for registered models."""
    measure = MEASURES.get(instance.measure)
    if measure is None or measure.result not in TRAINING:
        return
    target = folder_of(instance)
    used = {Path(model.location) for model in trained_models_of(instance)}
    left = [folder for folder in (*target.glob("*"),) if used and folder.is_dir()] or [target]
    _remove_later([workspace_of(instance), *(one for one in left if not used & {one, one.parent})])


def remove_model_folder(*, instance: LanguageModel, **_: Any) -> None:
    """Signal handler: the weights of a deleted model go if the platform has trained them."""
    folder = Path(instance.location)
    if instance.training_run and folder.is_relative_to((settings.VAR_DIR / "models").resolve()):
        _remove_later([folder])


def _remove_later(folders: Iterable[Path]) -> None:
    """Remove folders once the transaction is committed, and what is empty then around them."""
    chosen = tuple(folders)

    def remove() -> None:
        for folder in chosen:
            shutil.rmtree(folder, ignore_errors=True)
            if folder.name.isdigit():  # one of several trainings
                with suppress(OSError):  # the folder of all holds others
                    folder.parent.rmdir()

    transaction.on_commit(remove)


def _free_name(name: str, run: Run) -> str:
    if not LanguageModel.objects.filter(name=name).exists():
        return name
    ending = f" {run.public_id}"
    return name[: NAME_LENGTH - len(ending)] + ending
