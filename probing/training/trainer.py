"""Trains the model of a :class:`TrainingTask`, which gives the loss of each batch.

On the CPU the same task, settings and number of threads give the same weights to the last bit,
whether the training ran through or was killed and resumed from a checkpoint.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from probing.training.checkpoints import load_newest, save_checkpoint
from probing.training.errors import (
    DivergedError,
    TrainingError,
    TrainingPausedError,
    TrainingStoppedError,
)
from probing.training.schedule import (
    Length,
    LossPoint,
    TrainingSettings,
    epoch_batches,
    rate_factor,
    training_length,
)

if TYPE_CHECKING:
    import torch

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class BatchLoss:
    """The loss of a batch: a sum over `count` targets, such as tokens.

    correct : how many targets were likeliest, None for tasks that do not count them.
    """

    total: torch.Tensor
    count: int
    correct: int | None = None


@dataclass(frozen=True)
class Measured:
    """Mean loss per target, and the share that was likeliest (None where it is not counted)."""

    loss: float
    accuracy: float | None


class TrainingTask(Protocol):
    """What is learned: the trainer knows examples by their indices and never looks into them."""

    @property
    def model(self) -> torch.nn.Module:
        """The weights to train, on their device."""

    def loss(self, places: Sequence[int]) -> BatchLoss:
        """Return the loss of the examples at `places`, with its gradient's graph."""


class Wish(Enum):
    """What the caller of a training wants before its next step."""

    GO_ON = "go on"
    PAUSE = "save the state and leave"
    STOP = "leave at once"


@dataclass(frozen=True)
class TrainingEnd:
    """How a training ended.

    Attributes
    ----------
    steps, loss : of the last point of the curve.
    held_out_loss, held_out_accuracy : of the weights that are kept.
    resumed_at : steps that had been done by an earlier worker, 0 where none.
    damaged : checkpoints that were damaged and not used.
    best_step : after which the kept weights were reached.
    stopped_early : whether the held-out loss ended the training before its last epoch.
    """

    steps: int
    loss: float
    held_out_loss: float | None
    resumed_at: int
    damaged: int
    best_step: int = 0
    held_out_accuracy: float | None = None
    stopped_early: bool = False


def run_training(
    task: TrainingTask,
    *,
    train: Sequence[int],
    held_out: Sequence[int],
    settings: TrainingSettings,
    workspace: Path,
    recipe: str,
    report: Callable[[LossPoint], None],
    wish: Callable[[], Wish] = lambda: Wish.GO_ON,
) -> TrainingEnd:
    """Train the task's model in place, from the newest checkpoint in `workspace` if there is one.

    Parameters
    ----------
    train, held_out : places of the examples to train on, and of those to measure on only.
    recipe : tells trainings apart: a checkpoint of another one is refused.
    report : takes each point of the loss curve; after a resume, points come again as they were.
        What it raises ends the training before the point's step gets into a checkpoint.
    wish : asked before each step.

    Raises
    ------
    NoRoomError
        The disk is full; earlier checkpoints are whole.
    DivergedError
        The loss is no finite number.
    TrainingError
        The checkpoints belong to another training.
    TrainingPausedError, TrainingStoppedError
        As was wished.
    """
    import torch

    length = training_length(len(train), settings)
    restored = load_newest(workspace)
    with _own_randomness(torch, settings.seed):
        training = _Training(torch, task, settings, length, recipe)
        if restored.state is not None:
            training.restore(restored.state)
        begun = training.step
        while training.step < length.steps and not training.is_stale():
            wanted = wish()
            if wanted is Wish.STOP:
                raise TrainingStoppedError
            if wanted is Wish.PAUSE:
                save_checkpoint(workspace, training.step, training.state())
                raise TrainingPausedError
            _one_step(training, train, held_out, report)
            if training.saves_here():
                save_checkpoint(workspace, training.step, training.state())
        stopped_early = training.step < length.steps
        kept = training.take_best()
        task.model.eval()
        return TrainingEnd(
            steps=training.step,
            loss=training.last_loss,
            held_out_loss=kept.loss,
            resumed_at=begun,
            damaged=restored.damaged,
            best_step=kept.step,
            held_out_accuracy=kept.accuracy,
            stopped_early=stopped_early,
        )


def measure(task: TrainingTask, places: Sequence[int], batch_size: int) -> Measured:
    """Return loss and accuracy over `places`, without dropout and without learning."""
    import torch

    total, count, correct = 0.0, 0, 0
    counted = True
    task.model.eval()
    with torch.no_grad():
        for begin in range(0, len(places), batch_size):
            found = task.loss(places[begin : begin + batch_size])
            total += found.total.item()
            count += found.count
            counted = counted and found.correct is not None
            correct += found.correct or 0
    return Measured(total / count, correct / count if counted else None)


def _one_step(
    training: _Training,
    train: Sequence[int],
    held_out: Sequence[int],
    report: Callable[[LossPoint], None],
) -> None:
    rate = training.take_step(training.batch(train))
    if not training.ends_point():
        return
    measured = training.measure(held_out) if training.measures_here() and held_out else None
    report(training.close_point(rate, measured))


@dataclass
class _Kept:
    """Weights that the training would end with, and how they did on what is held out.

    weights : copies by name; None where they are those of the model now.
    """

    step: int = 0
    loss: float | None = None
    accuracy: float | None = None
    weights: dict[str, Any] | None = None


class _Training:
    """The state of a training between two steps."""

    def __init__(
        self,
        torch: Any,
        task: TrainingTask,
        settings: TrainingSettings,
        length: Length,
        recipe: str,
    ) -> None:
        self._torch, self._task, self._settings = torch, task, settings
        self._length, self._recipe = length, recipe
        self._weights = [weight for weight in task.model.parameters() if weight.requires_grad]
        # Of a model with adapters most weights never change: they stand in its base's files.
        self._frozen = {
            name
            for name, weight in task.model.named_parameters(remove_duplicate=False)
            if not weight.requires_grad
        }
        self._optimizer = torch.optim.AdamW(
            self._weights, lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        self.step = 0
        self.last_loss = math.nan
        self._kept = _Kept()
        self._stale = 0  # measurements since the best one
        self._losses: list[float] = []  # of the steps since the last point
        self._right = [0, 0]  # targets that were likeliest, and all, in these steps
        self._batches: tuple[int, list[list[int]]] | None = None

    # --- steps ------------------------------------------------------------------------------

    def batch(self, train: Sequence[int]) -> list[int]:
        """Return the places of the next step's examples."""
        epoch, place = divmod(self.step, self._length.steps_per_epoch)
        if self._batches is None or self._batches[0] != epoch:
            given = (train, self._settings.batch_size)
            self._batches = epoch, epoch_batches(*given, seed=self._settings.seed, epoch=epoch)
        return self._batches[1][place]

    def take_step(self, places: Sequence[int]) -> float:
        """Train on one batch; return the learning rate that it had."""
        torch, settings = self._torch, self._settings
        if self._settings.keep_best and self._kept.step == self.step > 0:
            self._kept.weights = self._own_weights(copied=True)  # before they change
        self._task.model.train()
        self._optimizer.zero_grad(set_to_none=True)
        found = self._task.loss(places)
        loss = found.total / found.count
        value = loss.item()
        if not math.isfinite(value):
            raise DivergedError(
                f"The loss of step {self.step + 1} is {value}. Create a run with a lower learning "
                f"rate than {settings.learning_rate:g}."
            )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self._weights, settings.clip_norm)
        self.step += 1
        factor = rate_factor(
            self.step, self._length.steps, settings.warmup_share, settings.schedule
        )
        rate = settings.learning_rate * factor
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.step()
        self._losses.append(value)
        if found.correct is not None:
            self._right = [self._right[0] + found.correct, self._right[1] + found.count]
        return rate

    def measure(self, places: Sequence[int]) -> Measured:
        """Measure on what is held out, and note whether these are the weights to keep."""
        found = measure(self._task, places, self._settings.batch_size)
        before = self._kept.loss
        best = before is None or math.isnan(before) or found.loss < before
        if best or not self._settings.keep_best:
            self._kept, self._stale = _Kept(self.step, found.loss, found.accuracy), 0
        else:
            self._stale += 1
        return found

    def is_stale(self) -> bool:
        """Whether so many measurements were no better that the training ends."""
        patience = self._settings.patience
        return patience is not None and self._stale >= patience

    def take_best(self) -> _Kept:
        """Put the weights into the model that are to be kept."""
        if self._kept.weights is not None:
            self._task.model.load_state_dict(self._kept.weights, strict=False)
        is_best = self._settings.keep_best and self._kept.loss is not None
        return self._kept if is_best else replace(self._kept, step=self.step)

    # --- the curve --------------------------------------------------------------------------

    def ends_epoch(self) -> bool:
        return self.step % self._length.steps_per_epoch == 0

    def measures_here(self) -> bool:
        every = self._settings.evaluate_every
        return self.ends_epoch() if every is None else self.step % every == 0

    def ends_point(self) -> bool:
        point = self.step % self._length.point_every == 0
        return point or self.ends_epoch() or self.measures_here()

    def close_point(self, rate: float, measured: Measured | None) -> LossPoint:
        self.last_loss = math.fsum(self._losses) / len(self._losses)
        right, count = self._right
        self._losses, self._right = [], [0, 0]
        return LossPoint(
            step=self.step,
            epoch=self.step / self._length.steps_per_epoch,
            loss=self.last_loss,
            held_out_loss=measured.loss if measured else None,
            learning_rate=rate,
            accuracy=right / count if count else None,
            held_out_accuracy=measured.accuracy if measured else None,
        )

    # --- checkpoints ------------------------------------------------------------------------

    def saves_here(self) -> bool:
        every = self._settings.checkpoint_every
        return self.ends_epoch() or self.is_stale() or bool(every and self.step % every == 0)

    def _own_weights(self, *, copied: bool = False) -> dict[str, Any]:
        """Return what training changes: all of a model's state, or that of its adapters."""
        state = self._task.model.state_dict()
        return {
            name: weight.detach().to("cpu", copy=True) if copied else weight
            for name, weight in state.items()
            if name not in self._frozen
        }

    def state(self) -> dict[str, Any]:
        cuda = self._torch.cuda
        return {
            "recipe": self._recipe,
            "step": self.step,
            "model": self._own_weights(),
            "optimizer": self._optimizer.state_dict(),
            "random": self._torch.get_rng_state(),
            "random_cuda": cuda.get_rng_state_all() if cuda.is_available() else [],
            "losses": self._losses,
            "right": self._right,
            "last_loss": self.last_loss,
            "last_held_out": self._kept.loss,
            "kept": vars(self._kept),
            "stale": self._stale,
        }

    def restore(self, state: dict[str, Any]) -> None:
        if state["recipe"] != self._recipe:
            raise TrainingError(
                "The checkpoints belong to another training: the model, the texts or the settings "
                "changed since it began. Create a new run."
            )
        missing, unknown = self._task.model.load_state_dict(state["model"], strict=False)
        if unknown or set(missing) - self._frozen:
            raise TrainingError("The checkpoints belong to another model. Create a new run.")
        self._optimizer.load_state_dict(state["optimizer"])
        self._torch.set_rng_state(state["random"])
        if state["random_cuda"] and self._torch.cuda.is_available():
            self._torch.cuda.set_rng_state_all(state["random_cuda"])
        self.step = state["step"]
        self._losses = list(state["losses"])
        self.last_loss = state["last_loss"]
        # Checkpoints of earlier versions hold the last held-out loss alone.
        self._kept = _Kept(**state.get("kept", {"loss": state["last_held_out"]}))
        self._right, self._stale = list(state.get("right", (0, 0))), state.get("stale", 0)
        logger.info("training continues from step %d of %d", self.step, self._length.steps)


@contextmanager
def _own_randomness(torch: Any, seed: int) -> Iterator[None]:
    """Seed dropout for this training, and give the process its own randomness back afterwards."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
