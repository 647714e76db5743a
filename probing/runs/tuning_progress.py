"""Selector: how the trainings of a run are doing, and what became of the models it kept."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation.common.proportions import Proportion, estimate_proportion
from probing.measures.classifier_fine_tuning import (
    BEST_STEP,
    STEPS,
    TEST_ACCURACY,
    VALIDATION_ACCURACY,
    VALIDATION_LOSS,
)
from probing.models import LanguageModel, Run, RunStatus, Score, ShardStatus, TrainingPoint
from probing.runs.trained_models import trained_models_of

#: Of runs with more trainings, only the points where something was measured are drawn.
MOST_CURVES = 20


@dataclass(frozen=True)
class TrainingRow:
    """One training of a run.

    Attributes
    ----------
    number : from 1 on.
    points : its curve so far, by step.
    steps, best_step, validation_loss, validation_accuracy : of a finished run, else as far as it
        is; the last two of the best measurement.
    test : accuracy on the test texts with Wilson's interval, once the run is finished.
    model : that was kept.
    """

    number: int
    seed: int
    learning_rate: float
    weight_decay: float
    status: str
    points: tuple[TrainingPoint, ...]
    steps: int | None
    best_step: int | None
    validation_loss: float | None
    validation_accuracy: float | None
    test: Proportion | None
    model: LanguageModel | None

    @property
    def status_label(self) -> str:
        return str(ShardStatus(self.status).label)


def load_trainings(run: Run) -> tuple[TrainingRow, ...]:
    """Return the trainings of ``run``, in their order. Four queries."""
    scores: dict[str, dict[str, Score]] = defaultdict(dict)
    for score in Score.objects.filter(run=run):
        scores[score.group][score.name] = score
    points: dict[int, list[TrainingPoint]] = defaultdict(list)
    curves = TrainingPoint.objects.filter(run=run).order_by("training", "step")
    if run.shard_count > MOST_CURVES:
        curves = curves.filter(held_out_loss__isnull=False)
    for point in curves:
        points[point.training].append(point)
    models = {int(Path(model.location).name): model for model in trained_models_of(run)}
    shards = run.shards.order_by("index").values_list("payload", "status")
    return tuple(
        _row(payload, status, points[number], scores[f"training {number}"], models.get(number))
        for number, (payload, status) in enumerate(shards, start=1)
    )


def _row(
    payload: dict[str, Any],
    status: str,
    points: list[TrainingPoint],
    scores: dict[str, Score],
    model: LanguageModel | None,
) -> TrainingRow:
    measured = [point for point in points if point.held_out_loss is not None]
    best = min(measured, key=lambda point: point.held_out_loss or 0.0, default=None)
    values = {name: score.value for name, score in scores.items()}
    test = scores.get(TEST_ACCURACY)
    steps = points[-1].step if points else None
    best_step = best.step if best else None
    loss, accuracy = (best.held_out_loss, best.held_out_accuracy) if best else (None, None)
    if values:  # of a finished run
        steps, best_step = (int(values[name] or 0) for name in (STEPS, BEST_STEP))
        loss, accuracy = values[VALIDATION_LOSS], values[VALIDATION_ACCURACY]
    return TrainingRow(
        **payload,
        status=status,
        points=tuple(points),
        steps=steps,
        best_step=best_step,
        validation_loss=loss,
        validation_accuracy=accuracy,
        test=estimate_proportion(round(test.value * test.n), test.n)
        if test is not None and test.value is not None
        else None,
        model=model,
    )


@dataclass(frozen=True)
class ClassifiedRuns:
    """Runs of classification with the models that a run kept, newest first."""

    runs: tuple[Run, ...]

    @property
    def finished(self) -> tuple[Run, ...]:
        return tuple(run for run in self.runs if run.status == RunStatus.FINISHED)


def load_classified(run: Run) -> ClassifiedRuns:
    """Return the runs that the models of ``run`` were used in. One query."""
    found = Run.objects.filter(model__training_run=run.public_id, measure="classification")
    return ClassifiedRuns(tuple(found.select_related("model").defer("stimuli").order_by("-pk")))
