"""Geometry of the loss curve, in the units of its view box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from probing.models import TrainingPoint

LEFT, RIGHT, TOP, BASE = 46.0, 472.0, 12.0, 172.0
MOST_EPOCH_TICKS = 8
LEVELS = 4


@dataclass(frozen=True)
class LossTick:
    """A grid line of the loss, or a mark of an epoch, at its place on its axis."""

    place: float
    label: str


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
    levels: tuple[LossTick, ...]
    epochs: tuple[LossTick, ...]
    left: float = LEFT
    right: float = RIGHT
    base: float = BASE


def draw_loss(points: Sequence[TrainingPoint], epochs: int) -> LossChart | None:
    """Draw the curve on an axis of all ``epochs``, from a loss of zero; None for too few points."""
    if len(points) < 2:
        return None
    values = [point.loss for point in points]
    values += [point.held_out_loss for point in points if point.held_out_loss is not None]
    step = _nice_step(max(values))
    highest = step * max(1, math.ceil(max(values) / step))

    def x(epoch: float) -> float:
        return round(LEFT + (RIGHT - LEFT) * epoch / epochs, 1)

    def y(loss: float) -> float:
        return round(BASE - (BASE - TOP) * loss / highest, 1)

    held_out = tuple(
        HeldOutMark(x(point.epoch), y(point.held_out_loss), f"{point.held_out_loss:.4f}")
        for point in points
        if point.held_out_loss is not None
    )
    apart = math.ceil(epochs / MOST_EPOCH_TICKS)
    return LossChart(
        line=" ".join(f"{x(point.epoch)},{y(point.loss)}" for point in points),
        held_out_line=" ".join(f"{mark.x},{mark.y}" for mark in held_out),
        held_out=held_out,
        levels=tuple(
            LossTick(y(step * number), f"{step * number:g}")
            for number in range(round(highest / step) + 1)
        ),
        epochs=tuple(LossTick(x(epoch), str(epoch)) for epoch in range(0, epochs + 1, apart)),
    )


def _nice_step(highest: float) -> float:
    """Return a round step that gives about four grid lines."""
    if highest <= 0:
        return 1.0
    raw = highest / LEVELS
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 2.5, 5, 10) if factor * power >= raw)
