"""The schedule of a training: its steps and learning rates, its batches, its loss curve."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from annotation.common.lazy import np

#: Points of a loss curve besides those at the ends of epochs: enough to draw, few enough to store.
MOST_POINTS = 200


@dataclass(frozen=True)
class TrainingSettings:
    """How a model is trained.

    Deas et al. (2023, Appendix E.1) give a learning rate of 3e-5 and 5 epochs, and nothing else;
    the other values are those of the transformers library's own trainer: AdamW (betas 0.9 and
    0.999, epsilon 1e-8) without weight decay, a rate that falls linearly to zero, gradients
    clipped to norm 1.

    Attributes
    ----------
    warmup_share : share of all steps, from 0 to below 1, in which the rate climbs from zero.
    clip_norm : the largest norm of a step's gradient.
    seed : decides the order of the examples and the dropout.
    checkpoint_every : steps between checkpoints; None saves at the end of each epoch only.
    schedule : whether the rate falls linearly to zero after the warm-up, or stays.
    evaluate_every : steps between measurements of the held-out loss; None measures at the end of
        each epoch only.
    keep_best : keeps the weights with the lowest held-out loss in place of the last ones.
    patience : so many measurements without a lower held-out loss end the training; None never.
    """

    learning_rate: float = 3e-5
    epochs: int = 5
    batch_size: int = 8
    warmup_share: float = 0.0
    weight_decay: float = 0.0
    clip_norm: float = 1.0
    seed: int = 0
    checkpoint_every: int | None = None
    schedule: Literal["linear", "constant"] = "linear"
    evaluate_every: int | None = None
    keep_best: bool = False
    patience: int | None = None

    def __post_init__(self) -> None:
        _require(self.learning_rate > 0, "learning_rate", self.learning_rate, "above 0")
        _require(self.epochs >= 1, "epochs", self.epochs, "at least 1")
        _require(self.batch_size >= 1, "batch_size", self.batch_size, "at least 1")
        _require(0 <= self.warmup_share < 1, "warmup_share", self.warmup_share, "from 0 to below 1")
        _require(self.weight_decay >= 0, "weight_decay", self.weight_decay, "at least 0")
        _require(self.clip_norm > 0, "clip_norm", self.clip_norm, "above 0")
        _require(self.seed >= 0, "seed", self.seed, "at least 0")
        for name in ("checkpoint_every", "evaluate_every", "patience"):
            value = getattr(self, name)
            if value is not None:
                _require(value >= 1, name, value, "at least 1")

    def decisive(self) -> dict[str, Any]:
        """Return what the weights depend on; how often the state is saved changes none of them.

        Settings that came later are there only where they differ from what was done before, so
        that a training which began under an earlier version continues.
        """
        later = ("schedule", "evaluate_every", "keep_best", "patience")
        plain = TrainingSettings()
        return {
            name: value
            for name, value in {**asdict(self), "checkpoint_every": None}.items()
            if name not in later or value != getattr(plain, name)
        }


def _require(holds: bool, name: str, value: float, expected: str) -> None:
    if not holds:
        raise ValueError(f"{name} is {value}, expected {expected}")


@dataclass(frozen=True)
class Length:
    """The steps of a training; the last batch of an epoch may be smaller than the others."""

    epochs: int
    steps_per_epoch: int

    @property
    def steps(self) -> int:
        return self.epochs * self.steps_per_epoch

    @property
    def point_every(self) -> int:
        """Steps that one point of the loss curve stands for."""
        return math.ceil(self.steps / MOST_POINTS)


def training_length(n_examples: int, settings: TrainingSettings) -> Length:
    """Return how long a training on that many examples is; ValueError for none."""
    if n_examples < 1:
        raise ValueError("a training needs at least one example")
    return Length(settings.epochs, math.ceil(n_examples / settings.batch_size))


def rate_factor(
    step: int, steps: int, warmup_share: float, schedule: Literal["linear", "constant"] = "linear"
) -> float:
    """Return the share of the learning rate that step `step` of `steps`, counted from 1, has.

    A constant rate is whole after the warm-up. For a linear one, with w = round(warmup_share ·
    steps), it is (step − 1) / w before step w + 1, and from there falls linearly:
    (steps − (step − 1)) / (steps − w), so that the first step after the warm-up has all of it and
    the one after the last would have none (the linear schedule with warm-up of the transformers
    library).
    """
    done = step - 1
    warmup = round(warmup_share * steps)
    if done < warmup:
        return done / warmup
    if schedule == "constant":
        return 1.0
    return (steps - done) / max(1, steps - warmup)


@dataclass(frozen=True)
class LossPoint:
    """One point of the curve.

    Attributes
    ----------
    step : steps done, counted from 1.
    epoch : epochs done, with a fraction.
    loss : mean over the steps since the point before of −ln P per target (a token, or a text’s
        class), in nats, each before its own update.
    held_out_loss : −ln P per target over all held-out examples, in nats; None where it was not
        measured.
    learning_rate : of this step.
    accuracy, held_out_accuracy : share of the targets of these steps, and of the held-out ones,
        that were likeliest; None for tasks that do not count them.
    """

    step: int
    epoch: float
    loss: float
    held_out_loss: float | None
    learning_rate: float
    accuracy: float | None = None
    held_out_accuracy: float | None = None


# Tells the draws of one seed apart.
_HELD_OUT, _ORDER = 1, 2


def split_held_out(groups: Sequence[str], share: float, seed: int) -> tuple[list[int], list[int]]:
    """Split places 0 … n − 1 into those to train on and those to hold out.

    Parameters
    ----------
    groups : (n,) what each example belongs to; a group is never on both sides.
    share : share of the groups to hold out, from 0 to below 1, rounded to whole groups. A share
        above zero holds out at least one group where there are two, and never all of them.

    Returns
    -------
    Places in rising order, first those to train on.
    """
    if not 0 <= share < 1:
        raise ValueError(f"share is {share}, expected from 0 to below 1")
    names = sorted(set(groups))
    number = 0
    if share > 0 and len(names) > 1:
        number = min(max(1, round(share * len(names))), len(names) - 1)
    rng = np.random.default_rng([seed, _HELD_OUT])
    held = {names[place] for place in rng.permutation(len(names))[:number]}
    train = [place for place, group in enumerate(groups) if group not in held]
    return train, [place for place, group in enumerate(groups) if group in held]


def epoch_batches(
    places: Sequence[int], batch_size: int, *, seed: int, epoch: int
) -> list[list[int]]:
    """Return the batches of an epoch: every place once, in an order of its own for each epoch.

    Depends on its arguments alone, so that a resumed training meets the order it would have met.
    """
    order = np.random.default_rng([seed, _ORDER, epoch]).permutation(len(places))
    shuffled = [places[number] for number in order]
    return [shuffled[k : k + batch_size] for k in range(0, len(shuffled), batch_size)]
