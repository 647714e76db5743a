"""τ between pictures: its value by hand, its interval in simulated studies with known truth."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.analyses.three_pictures import Picture, rating_difference, tau_of_pictures
from evaluation.metrics.undefined import UndefinedReason

N_SCALES = 16


def picture(truth: np.ndarray, noise: float, rng: np.random.Generator) -> Picture:
    """Return the means of 20 prompts whose means scatter by ``noise``."""
    n = 20
    table = truth + rng.normal(0, noise * np.sqrt(n), size=(n, truth.size))
    return Picture("x", table.mean(axis=0), ())


def test_tau_of_few_scales_has_no_interval() -> None:
    """Of six pairs of four scales one is discordant: (6 − 2) / 6."""
    first, second = (Picture("a", np.array(x), ()) for x in ([1.0, 2, 3, 4], [1.0, 2, 4, 3]))
    found = tau_of_pictures(first, second, 0.95)
    assert found.value == pytest.approx(2 / 3)
    assert found.interval_reason == UndefinedReason.FEW_SCALES


def test_two_groups_rated_by_the_same_people_are_compared_person_by_person() -> None:
    """Source: scipy's paired t-test, whose interval it is."""
    ratings = np.random.default_rng(1).normal(50, 15, (12, 2))
    found = rating_difference(float(np.subtract(*ratings.mean(axis=0))), ratings, 0.9)
    wanted = stats.ttest_rel(*ratings.T)
    assert (found.low, found.high) == pytest.approx(tuple(wanted.confidence_interval(0.9)))
    assert found.p_value == pytest.approx(wanted.pvalue)


def test_two_groups_rated_by_others_have_welchs_error_and_the_smaller_sides_freedom() -> None:
    first, second = np.arange(10.0), 3 * np.arange(12.0)
    ratings = np.full((22, 2), np.nan)
    ratings[:10, 0], ratings[10:, 1] = first, second
    found = rating_difference(4.5 - 16.5, ratings, 0.95)
    error = np.sqrt(first.var(ddof=1) / 10 + second.var(ddof=1) / 12)
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, 9) * error)
    few = rating_difference(0.0, ratings[:15], 0.95)
    assert few.interval_reason == UndefinedReason.FEW_RATINGS


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
