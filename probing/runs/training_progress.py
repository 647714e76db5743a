"""The loss curve of a run that trains: storing a point, and how far the training is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from django.db.models import Min

from probing.models import Run, TrainingPoint
from probing.runs.leases import OPEN

if TYPE_CHECKING:
    from probing.training.schedule import LossPoint


def store_point(*, run_id: int, point: LossPoint, training: int = 0) -> None:
    """Store one point of a loss curve; the same step of a training again replaces it."""
    values = vars(point)
    TrainingPoint.objects.update_or_create(
        run_id=run_id,
        training=training,
        step=point.step,
        defaults={name: values[name] for name in values if name != "step"},
    )


@dataclass(frozen=True)
class TrainingProgress:
    """How far a training is.

    Attributes
    ----------
    points : the loss curve so far, by step.
    epochs : that the run was asked for.
    seconds_left : at the pace of the present worker, None before its second point and when the
        run is closed.
    """

    points: tuple[TrainingPoint, ...]
    epochs: int
    seconds_left: float | None

    @property
    def last(self) -> TrainingPoint | None:
        return self.points[-1] if self.points else None

    @property
    def last_held_out(self) -> TrainingPoint | None:
        """The latest point with a held-out loss."""
        return next((p for p in reversed(self.points) if p.held_out_loss is not None), None)

    @property
    def percent(self) -> int:
        """Whole percents of the epochs, rounded down, so that 100 means trained to the end."""
        return int(100 * self.last.epoch / self.epochs + 1e-9) if self.last else 0


def load_training(run: Run) -> TrainingProgress:
    """Return how far the training of ``run`` is. Two queries."""
    points = tuple(TrainingPoint.objects.filter(run=run).order_by("step"))
    epochs = int(run.parameters["epochs"])
    begun = None
    if run.status in OPEN:
        begun = run.shards.aggregate(begun=Min("started_at"))["begun"]
    return TrainingProgress(points, epochs, _seconds_left(points, epochs, begun))


def _seconds_left(
    points: tuple[TrainingPoint, ...], epochs: int, begun: datetime | None
) -> float | None:
    # Points from before a crash would count the time in which nobody worked.
    recent = [point for point in points if begun is not None and point.at >= begun]
    if len(recent) < 2:
        return None
    first, last = recent[0], recent[-1]
    seconds, done = (last.at - first.at).total_seconds(), last.epoch - first.epoch
    return seconds / done * (epochs - last.epoch) if done > 0 else None
