"""τ between pictures: its value by hand, its interval in simulated studies with known truth."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.analyses.three_pictures import Picture, tau_of_pictures
from evaluation.metrics.undefined import UndefinedReason

N_SCALES = 16


def picture(truth: np.ndarray, noise: float, rng: np.random.Generator) -> Picture:
    """Return the means of 20 prompts whose means scatter by ``noise``."""
    n = 20
    table = truth + rng.normal(0, noise * np.sqrt(n), size=(n, truth.size))
    return Picture("x", table.mean(axis=0), np.empty((0, truth.size)), np.full(truth.size, n), "")


def test_tau_of_few_scales_has_no_interval() -> None:
    """Of six pairs of four scales one is discordant: (6 − 2) / 6."""
    first, second = (
        Picture("a", np.array(x), np.empty((0, 4)), np.ones(4), "")
        for x in ([1.0, 2, 3, 4], [1.0, 2, 4, 3])
    )
    found = tau_of_pictures(first, second, 0.95)
    assert found.value == pytest.approx(2 / 3)
    assert found.interval_reason == UndefinedReason.FEW_SCALES


@pytest.mark.parametrize(("correlation", "noise"), [(0.0, 0.2), (0.5, 0.5), (0.8, 0.2)])
def test_the_interval_covers_the_truth_at_least_as_often_as_it_says(
    correlation: float, noise: float
) -> None:
    """τ of two normal variables is 2/π · arcsin ρ; 200 studies leave an error of 1.5 percent."""
    rng = np.random.default_rng(5)
    truth = 2 / np.pi * np.arcsin(correlation / (1 + noise**2))
    covered = 0
    for _ in range(200):
        one = rng.normal(size=N_SCALES)
        other = correlation * one + np.sqrt(1 - correlation**2) * rng.normal(size=N_SCALES)
        found = tau_of_pictures(picture(one, noise, rng), picture(other, noise, rng), 0.95)
        covered += found.low <= truth <= found.high
    assert covered >= 184
