"""Steps and learning rates, against the schedule of the transformers library."""

from __future__ import annotations

import pytest
import torch
from transformers import get_linear_schedule_with_warmup

from probing.training.schedule import (
    MOST_POINTS,
    TrainingSettings,
    rate_factor,
    training_length,
)


@pytest.mark.parametrize(("steps", "share"), [(90, 0.0), (90, 0.1), (7, 0.5), (1, 0.0), (3, 0.99)])
def test_the_rate_is_that_of_the_transformers_library(steps: int, share: float) -> None:
    weight = torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight], lr=1.0)
    schedule = get_linear_schedule_with_warmup(optimizer, round(share * steps), steps)
    for step in range(1, steps + 1):
        assert rate_factor(step, steps, share) == pytest.approx(schedule.get_last_lr()[0], abs=0)
        optimizer.step()
        schedule.step()


def test_the_paper_s_training_has_ninety_steps() -> None:
    # 72 pairs in both directions are 144 examples, 18 batches of 8, in 5 epochs.
    length = training_length(144, TrainingSettings())
    assert (length.steps_per_epoch, length.steps, length.point_every) == (18, 90, 1)


def test_a_long_training_has_a_curve_of_bounded_length() -> None:
    length = training_length(100_000, TrainingSettings(epochs=3))
    points = length.steps // length.point_every + length.epochs
    assert MOST_POINTS <= points <= MOST_POINTS + length.epochs


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("learning_rate", 0),
        ("epochs", 0),
        ("batch_size", 0),
        ("warmup_share", 1.0),
        ("clip_norm", 0),
        ("weight_decay", -1),
        ("seed", -1),
        ("checkpoint_every", 0),
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"{name} is {value}, expected"):
        TrainingSettings(**{name: value})


def test_nothing_to_train_on_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one example"):
        training_length(0, TrainingSettings())
