"""τ between pictures: its value by hand, its interval in simulated studies with known truth."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.analyses.three_pictures import Picture, tau_over_scales

N_SCALES = 16


def picture(truth: np.ndarray, noise: float, rng: np.random.Generator) -> Picture:
    """Return the means of 20 prompts whose means scatter by ``noise``, with their resamples."""
    n = 20
    table = truth + rng.normal(0, noise * np.sqrt(n), size=(n, truth.size))
    weights = rng.multinomial(n, np.full(n, 1 / n), size=200)
    return Picture("x", table.mean(axis=0), weights @ table / n, np.full(truth.size, n), "")


def test_tau_and_its_error_by_hand() -> None:
    """Of six pairs of four scales one is discordant: (6 − 2) / 6, and less without either."""
    first = Picture("a", np.array([1.0, 2, 3, 4]), np.tile([1.0, 2, 3, 4], (5, 1)), np.ones(4), "")
    second = Picture("b", np.array([1.0, 2, 4, 3]), np.tile([1.0, 2, 4, 3], (5, 1)), np.ones(4), "")
    found = tau_over_scales(first, second, 0.5)
    assert found.value == pytest.approx(2 / 3)
    # Without scale 1 or 2: 1/3; without 3 or 4: 1. Jackknife: √(3/4 · 4 · (1/3)²); the quartile
    # of Student’s t with 3 degrees of freedom is 0.7649.
    assert found.value - found.low == pytest.approx(0.764892 * np.sqrt(3 / 9), abs=1e-5)
    assert (found.high, found.n) == (1.0, 4)


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
        found = tau_over_scales(picture(one, noise, rng), picture(other, noise, rng), 0.95)
        covered += found.low <= truth <= found.high
    assert covered >= 184
