"""Trains the model of a :class:`TrainingTask`, which gives the loss of each batch.

On the CPU the same task, settings and number of threads give the same weights to the last bit,
whether the training ran through or was killed and resumed from a checkpoint.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
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
    """The loss of a batch: a sum over `count` targets, such as tokens."""

    total: torch.Tensor
    count: int


class TrainingTask(Protocol):
    """What is learnt: the trainer knows examples by their indices and never looks into them."""

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
    steps, loss, held_out_loss : of the last point of the curve.
    resumed_at : steps that had been done by an earlier worker, 0 where none.
    damaged : checkpoints that were damaged and not used.
    """

    steps: int
    loss: float
    held_out_loss: float | None
    resumed_at: int
    damaged: int


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
        while training.step < length.steps:
            wanted = wish()
            if wanted is Wish.STOP:
                raise TrainingStoppedError
            if wanted is Wish.PAUSE:
                save_checkpoint(workspace, training.step, training.state())
                raise TrainingPausedError
            _one_step(training, train, held_out, report)
            if training.saves_here():
                save_checkpoint(workspace, training.step, training.state())
        task.model.eval()
        return TrainingEnd(
            steps=training.step,
            loss=training.last_loss,
            held_out_loss=training.last_held_out,
            resumed_at=begun,
            damaged=restored.damaged,
        )


def _one_step(
    training: _Training,
    train: Sequence[int],
    held_out: Sequence[int],
    report: Callable[[LossPoint], None],
) -> None:
    rate = training.take_step(training.batch(train))
    if not training.ends_point():
        return
    measured = training.measure(held_out) if training.ends_epoch() and held_out else None
    report(training.close_point(rate, measured))


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
        self._optimiser = torch.optim.AdamW(
            self._weights, lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        self.step = 0
        self.last_loss = math.nan
        self.last_held_out: float | None = None
        self._losses: list[float] = []  # of the steps since the last point
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
        self._task.model.train()
        self._optimiser.zero_grad(set_to_none=True)
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
        factor = rate_factor(self.step, self._length.steps, settings.warmup_share)
        rate = settings.learning_rate * factor
        for group in self._optimiser.param_groups:
            group["lr"] = rate
        self._optimiser.step()
        self._losses.append(value)
        return rate

    def measure(self, places: Sequence[int]) -> float:
        """Return the mean loss per target over `places`, without dropout and without learning."""
        total, count = 0.0, 0
        self._task.model.eval()
        size = self._settings.batch_size
        with self._torch.no_grad():
            for begin in range(0, len(places), size):
                found = self._task.loss(places[begin : begin + size])
                total += found.total.item()
                count += found.count
        return total / count

    # --- the curve --------------------------------------------------------------------------

    def ends_epoch(self) -> bool:
        return self.step % self._length.steps_per_epoch == 0

    def ends_point(self) -> bool:
        return self.ends_epoch() or self.step % self._length.point_every == 0

    def close_point(self, rate: float, held_out_loss: float | None) -> LossPoint:
        self.last_loss = math.fsum(self._losses) / len(self._losses)
        if held_out_loss is not None:
            self.last_held_out = held_out_loss
        self._losses = []
        return LossPoint(
            step=self.step,
            epoch=self.step / self._length.steps_per_epoch,
            loss=self.last_loss,
            held_out_loss=held_out_loss,
            learning_rate=rate,
        )

    # --- checkpoints ------------------------------------------------------------------------

    def saves_here(self) -> bool:
        every = self._settings.checkpoint_every
        return self.ends_epoch() or bool(every and self.step % every == 0)

    def state(self) -> dict[str, Any]:
        cuda = self._torch.cuda
        return {
            "recipe": self._recipe,
            "step": self.step,
            "model": self._task.model.state_dict(),
            "optimiser": self._optimiser.state_dict(),
            "random": self._torch.get_rng_state(),
            "random_cuda": cuda.get_rng_state_all() if cuda.is_available() else [],
            "losses": self._losses,
            "last_loss": self.last_loss,
            "last_held_out": self.last_held_out,
        }

    def restore(self, state: dict[str, Any]) -> None:
        if state["recipe"] != self._recipe:
            raise TrainingError(
                "The checkpoints belong to another training: the model, the texts or the settings "
                "changed since it began. Create a new run."
            )
        self._task.model.load_state_dict(state["model"])
        self._optimiser.load_state_dict(state["optimiser"])
        self._torch.set_rng_state(state["random"])
        if state["random_cuda"] and self._torch.cuda.is_available():
            self._torch.cuda.set_rng_state_all(state["random_cuda"])
        self.step = state["step"]
        self._losses = list(state["losses"])
        self.last_loss, self.last_held_out = state["last_loss"], state["last_held_out"]
        logger.info("training continues from step %d of %d", self.step, self._length.steps)


@contextmanager
def _own_randomness(torch: Any, seed: int) -> Iterator[None]:
    """Seed dropout for this training, and give the process its own randomness back afterwards."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
