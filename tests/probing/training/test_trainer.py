"""The trainer against a plain loop, and against itself after every kind of interruption."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from transformers import get_linear_schedule_with_warmup

from probing.training.checkpoints import list_checkpoints
from probing.training.errors import (
    DivergedError,
    TrainingError,
    TrainingPausedError,
    TrainingStoppedError,
)
from probing.training.schedule import LossPoint, TrainingSettings, epoch_batches
from probing.training.trainer import BatchLoss, TrainingEnd, Wish, run_training

SETTINGS = TrainingSettings(
    learning_rate=0.05, epochs=3, batch_size=4, warmup_share=0.2, seed=5, checkpoint_every=2
)
N = 18  # five batches an epoch, the last one of two
STEPS = 15


class Classifying:
    """Another task than writing: three classes from six numbers, with dropout."""

    def __init__(self, *, bad: bool = False) -> None:
        made = torch.Generator().manual_seed(0)
        self.inputs = torch.randn(N, 6, generator=made)
        self.classes = self.inputs[:, :3].argmax(dim=1)
        if bad:
            self.inputs[0, 0] = math.nan
        with torch.random.fork_rng():
            torch.manual_seed(1)
            self.model: torch.nn.Module = torch.nn.Sequential(
                torch.nn.Linear(6, 8),
                torch.nn.Dropout(0.3),
                torch.nn.Tanh(),
                torch.nn.Linear(8, 3),
            )

    def loss(self, places: Sequence[int]) -> BatchLoss:
        chosen = torch.tensor(list(places))
        total = torch.nn.functional.cross_entropy(
            self.model(self.inputs[chosen]), self.classes[chosen], reduction="sum"
        )
        return BatchLoss(total, len(places))


class CrashError(Exception):
    pass


def crash_at(step: int) -> Callable[[LossPoint], None]:
    def report(point: LossPoint) -> None:
        if point.step == step:
            raise CrashError

    return report


def fit(
    workspace: Path,
    *,
    task: Classifying | None = None,
    settings: TrainingSettings = SETTINGS,
    held_out: int = 3,
    recipe: str = "one",
    report: Callable[[LossPoint], None] = lambda point: None,
    wish: Callable[[], Wish] = lambda: Wish.GO_ON,
) -> tuple[list[torch.Tensor], TrainingEnd]:
    task = task or Classifying()
    end = run_training(
        task,
        train=range(N - held_out) if held_out else range(N),
        held_out=range(N - held_out, N),
        settings=settings,
        workspace=workspace,
        recipe=recipe,
        report=report,
        wish=wish,
    )
    return [weight.detach().clone() for weight in task.model.parameters()], end


def same(left: Sequence[torch.Tensor], right: Sequence[torch.Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(left, right, strict=True))


def test_it_does_what_a_plain_loop_of_torch_and_transformers_does(tmp_path: Path) -> None:
    task = Classifying()
    points: list[LossPoint] = []
    weights, _ = fit(tmp_path, held_out=0, report=points.append)

    optimizer = torch.optim.AdamW(task.model.parameters(), lr=0.05, weight_decay=0)
    schedule = get_linear_schedule_with_warmup(optimizer, 3, STEPS)  # 0.2 of 15 steps
    losses = []
    with torch.random.fork_rng():
        torch.manual_seed(5)
        task.model.train()
        for epoch in range(3):
            for batch in epoch_batches(range(N), 4, seed=5, epoch=epoch):
                chosen = torch.tensor(batch)
                loss = torch.nn.functional.cross_entropy(
                    task.model(task.inputs[chosen]), task.classes[chosen]
                )
                optimizer.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(task.model.parameters(), 1.0)
                optimizer.step()
                schedule.step()
                losses.append(loss.item())
    assert [point.loss for point in points] == pytest.approx(losses, rel=1e-5)
    for ours, plain in zip(weights, task.model.parameters(), strict=True):
        torch.testing.assert_close(ours, plain.detach(), rtol=1e-5, atol=1e-6)


def test_the_same_seed_gives_the_same_weights_and_another_one_others(tmp_path: Path) -> None:
    first, end = fit(tmp_path / "a")
    torch.rand(7)  # what else the process draws changes nothing
    again, _ = fit(tmp_path / "b")
    other, _ = fit(tmp_path / "c", settings=TrainingSettings(**{**vars(SETTINGS), "seed": 6}))
    assert same(first, again)
    assert not same(first, other)
    assert end.steps == 12  # fifteen examples to train on: four batches in each of three epochs


def test_the_randomness_of_the_process_is_left_as_it_was(tmp_path: Path) -> None:
    torch.manual_seed(11)
    expected = torch.rand(3)
    torch.manual_seed(11)
    fit(tmp_path)
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.parametrize("step", range(1, 13))
def test_a_crash_anywhere_changes_no_bit_of_the_result(tmp_path: Path, step: int) -> None:
    calm_points: list[LossPoint] = []
    calm, _ = fit(tmp_path / "calm", report=calm_points.append)
    with pytest.raises(CrashError):
        fit(tmp_path / "hurt", report=crash_at(step))
    saved = [found.step for found in list_checkpoints(tmp_path / "hurt")]
    later_points: list[LossPoint] = []
    resumed, end = fit(tmp_path / "hurt", report=later_points.append)
    assert end.resumed_at == max(saved, default=0)
    assert same(resumed, calm)
    assert later_points == calm_points[end.resumed_at :]


def test_a_finished_training_is_not_trained_again(tmp_path: Path) -> None:
    calm, first = fit(tmp_path)
    points: list[LossPoint] = []
    again, end = fit(tmp_path, report=points.append)
    assert points == []
    assert same(again, calm)
    assert (end.steps, end.loss, end.held_out_loss) == (12, first.loss, first.held_out_loss)


def test_damaged_checkpoints_cost_time_but_no_bit(tmp_path: Path) -> None:
    calm, _ = fit(tmp_path / "calm")
    with pytest.raises(CrashError):
        fit(tmp_path / "hurt", report=crash_at(7))
    newest, before = list_checkpoints(tmp_path / "hurt")
    newest.path.write_bytes(newest.path.read_bytes()[:-100])
    resumed, end = fit(tmp_path / "hurt")
    assert (end.resumed_at, end.damaged) == (before.step, 1)
    assert same(resumed, calm)


def test_a_pause_saves_the_step_it_came_at(tmp_path: Path) -> None:
    calm, _ = fit(tmp_path / "calm")
    asked = iter([Wish.GO_ON] * 3 + [Wish.PAUSE])
    with pytest.raises(TrainingPausedError):
        fit(tmp_path / "paused", wish=lambda: next(asked))
    assert list_checkpoints(tmp_path / "paused")[0].step == 3
    resumed, end = fit(tmp_path / "paused")
    assert end.resumed_at == 3
    assert same(resumed, calm)


def test_a_stop_takes_effect_before_the_next_step(tmp_path: Path) -> None:
    points: list[LossPoint] = []
    asked = iter([Wish.GO_ON] * 5 + [Wish.STOP])
    with pytest.raises(TrainingStoppedError):
        fit(tmp_path, report=points.append, wish=lambda: next(asked))
    assert [point.step for point in points] == [1, 2, 3, 4, 5]


def test_the_curve_says_where_it_is(tmp_path: Path) -> None:
    points: list[LossPoint] = []
    task = Classifying()
    _, end = fit(tmp_path, task=task, report=points.append)
    assert [point.step for point in points] == list(range(1, 13))
    assert [point.epoch for point in points] == [step / 4 for step in range(1, 13)]
    measured = [point.step for point in points if point.held_out_loss is not None]
    assert measured == [4, 8, 12]
    # By hand: 12 steps, a warm-up of round(2.4) = 2, so that step 7 has (12 − 6) / 10 of 0.05.
    assert points[6].learning_rate == pytest.approx(0.03)
    held = torch.arange(15, 18)
    expected = torch.nn.functional.cross_entropy(task.model(task.inputs[held]), task.classes[held])
    assert not task.model.training
    assert end.held_out_loss == pytest.approx(expected.item(), rel=1e-6)
    assert (end.loss, end.steps) == (points[-1].loss, 12)


def test_checkpoints_of_another_training_are_refused(tmp_path: Path) -> None:
    fit(tmp_path)
    with pytest.raises(TrainingError, match="another training"):
        fit(tmp_path, recipe="two")


def test_a_loss_that_is_no_number_names_the_learning_rate(tmp_path: Path) -> None:
    with pytest.raises(DivergedError, match=r"is nan\. Create a run with a lower learning rate"):
        fit(tmp_path, task=Classifying(bad=True))


# --- The best weights, and when to stop ----------------------------------------------------------

EARLY = TrainingSettings(
    learning_rate=0.3,
    epochs=12,
    batch_size=4,
    seed=5,
    schedule="constant",
    evaluate_every=2,
    keep_best=True,
    patience=3,
)


def test_the_weights_with_the_lowest_held_out_loss_are_kept_and_end_the_training(
    tmp_path: Path,
) -> None:
    points: list[LossPoint] = []
    task = Classifying()
    _, end = fit(tmp_path, task=task, settings=EARLY, report=points.append)
    measured = [p for p in points if p.held_out_loss is not None]
    assert [p.step for p in measured] == list(range(2, end.steps + 1, 2))
    losses = [p.held_out_loss or 0.0 for p in measured]
    best = losses.index(min(losses))
    assert best == len(losses) - 1 - 3, "three measurements later it is over"
    assert end.stopped_early
    assert end.steps < 48
    assert (end.best_step, end.held_out_loss) == (measured[best].step, losses[best])
    held = torch.arange(15, 18)
    with torch.no_grad():
        logits = task.model(task.inputs[held])
        now = torch.nn.functional.cross_entropy(logits, task.classes[held])
    assert now.item() == pytest.approx(losses[best], rel=1e-6), "the model has these weights"
    assert {p.learning_rate for p in points} == {0.3}


@pytest.mark.parametrize("step", [1, 4, 5, 8, 9, 12])
def test_a_crash_changes_no_bit_of_the_best_weights(tmp_path: Path, step: int) -> None:
    calm, first = fit(tmp_path / "calm", settings=EARLY)
    with pytest.raises(CrashError):
        fit(tmp_path / "hurt", settings=EARLY, report=crash_at(step))
    resumed, end = fit(tmp_path / "hurt", settings=EARLY)
    assert same(resumed, calm)
    assert (end.steps, end.best_step, end.held_out_loss) == (
        first.steps,
        first.best_step,
        first.held_out_loss,
    )
    again, later = fit(tmp_path / "hurt", settings=EARLY)
    assert same(again, calm), "and from the last checkpoint of all"
    assert later.stopped_early


def test_how_a_training_is_told_apart_stays_as_it_was() -> None:
    """So that one which was paused before an update of the platform continues after it."""
    names = set(TrainingSettings().decisive())
    assert names == {
        *("learning_rate", "epochs", "batch_size", "warmup_share", "weight_decay", "clip_norm"),
        *("seed", "checkpoint_every"),
    }
    assert EARLY.decisive()["patience"] == 3
    assert SETTINGS.decisive()["checkpoint_every"] is None
