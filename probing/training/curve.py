"""The loss curve of a training."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LossPoint:
    """One point of the curve.

    Attributes
    ----------
    step : steps done, counted from 1.
    epoch : epochs done, with a fraction.
    loss : mean over the steps since the point before of −ln P per target token, in nats, each
        before its own update.
    held_out_loss : −ln P per target token over all held-out examples, in nats; None where it was
        not measured.
    learning_rate : of this step.
    """

    step: int
    epoch: float
    loss: float
    held_out_loss: float | None
    learning_rate: float
