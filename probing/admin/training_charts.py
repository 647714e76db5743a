"""Charts of trainings, in the units of their view boxes; templates draw them as SVG."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import fmean

from probing.admin.run_charts import LevelAxis, Tick, nice_step
from probing.models import TrainingPoint
from probing.runs.tuning_progress import TrainingRow

#: The frame of a curve.
LEFT, RIGHT, TOP, BASE = 46.0, 472.0, 12.0, 172.0
MOST_EPOCH_TICKS = 8
#: Epochs are sums of steps.
ROUNDING = 1e-9
#: Factors of round steps.
STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True)
class HeldOutMark:
    """The held-out loss after an epoch."""

    x: float
    y: float
    title: str


@dataclass(frozen=True)
class LossChart:
    """The loss over the epochs: a line for training, marks for what was held out."""

    line: str
    held_out_line: str
    held_out: tuple[HeldOutMark, ...]
    levels: tuple[Tick, ...]
    epochs: tuple[Tick, ...]
    left: float = LEFT
    right: float = RIGHT


def draw_loss(points: Sequence[TrainingPoint], epochs: int) -> LossChart | None:
    """Draw the curve on an axis of all ``epochs``, from a loss of zero; None for too few points."""
    if len(points) < 2:
        return None
    losses = [loss for p in points for loss in (p.loss, p.held_out_loss) if loss is not None]
    highest = max(losses)
    step = nice_step(highest, STEPS) if highest > 0 else 1.0
    axis = LevelAxis(highest, step, top=TOP, base=BASE)

    x = _epoch_axis(epochs)

    held_out = tuple(
        HeldOutMark(x(point.epoch), axis.place(point.held_out_loss), f"{point.held_out_loss:.4f}")
        for point in points
        if point.held_out_loss is not None
    )
    return LossChart(
        line=" ".join(f"{x(point.epoch)},{axis.place(point.loss)}" for point in points),
        held_out_line=" ".join(f"{mark.x},{mark.y}" for mark in held_out),
        held_out=held_out,
        levels=axis.ticks(),
        epochs=_epoch_ticks(x, epochs),
    )


@dataclass(frozen=True)
class Curve:
    """One line of a training: on what it trains (``train``), or on validation texts."""

    line: str
    part: str
    title: str
    kept: bool


@dataclass(frozen=True)
class CurveChart:
    """The curves of all trainings of a run in one quantity."""

    curves: tuple[Curve, ...]
    levels: tuple[Tick, ...]
    epochs: tuple[Tick, ...]
    left: float = LEFT
    right: float = RIGHT


@dataclass(frozen=True)
class TrainingCharts:
    """Loss and accuracy; accuracy is None where none was counted."""

    loss: CurveChart
    accuracy: CurveChart | None


def draw_trainings(rows: Sequence[TrainingRow]) -> TrainingCharts | None:
    """Draw all trainings on axes as long as the longest of them so far; None for too few points."""
    longest = max((point.epoch for row in rows for point in row.points), default=0.0)
    if max((len(row.points) for row in rows), default=0) < 2:
        return None
    epochs = max(1, math.ceil(longest - ROUNDING))
    loss = _draw(rows, epochs, ("loss", "held_out_loss"))
    accuracy = _draw(rows, epochs, ("accuracy", "held_out_accuracy"), highest=1.0)
    if loss is None:
        return None
    return TrainingCharts(loss, accuracy)


def _points_of(row: TrainingRow, name: str, *, by_epoch: bool) -> list[tuple[float, float]]:
    """Return epochs and values of a quantity, or its means over each epoch."""
    points = [(p.epoch, value) for p in row.points if (value := getattr(p, name)) is not None]
    if not by_epoch:
        return points
    whole = groupby(points, key=lambda point: math.ceil(point[0] - ROUNDING))
    return [
        (some[-1][0], fmean(value for _, value in some)) for some in (list(g) for _, g in whole)
    ]


def _draw(
    rows: Sequence[TrainingRow], epochs: int, names: tuple[str, str], highest: float | None = None
) -> CurveChart | None:
    x = _epoch_axis(epochs)
    trained, validated = names
    by_epoch = len(rows) > 1 and epochs > 1
    found = [
        curve
        for row in rows
        for curve in (
            (row, "train", _points_of(row, trained, by_epoch=by_epoch)),
            (row, "validation", _points_of(row, validated, by_epoch=False)),
        )
    ]
    values = [value for _, _, points in found for _, value in points]
    if not values:
        return None
    top = highest or max(values) or 1.0
    axis = LevelAxis(top, nice_step(top, STEPS), top=TOP, base=BASE)
    return CurveChart(
        curves=tuple(
            Curve(
                line=" ".join(f"{x(epoch)},{axis.place(value)}" for epoch, value in points),
                part=part,
                title=f"{row.number}, {part}",
                kept=row.model is not None,
            )
            for row, part, points in found
            if points
        ),
        levels=axis.ticks(),
        epochs=_epoch_ticks(x, epochs),
    )


def _epoch_axis(epochs: int) -> Callable[[float], float]:
    return lambda epoch: round(LEFT + (RIGHT - LEFT) * epoch / epochs, 1)


def _epoch_ticks(x: Callable[[float], float], epochs: int) -> tuple[Tick, ...]:
    apart = math.ceil(epochs / MOST_EPOCH_TICKS)
    return tuple(Tick(x(epoch), str(epoch)) for epoch in range(0, epochs + 1, apart))
