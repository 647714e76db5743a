"""The noise ceiling against a plain loop over the same splits."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evaluation.analyses.noise_ceiling import noise_ceiling, random_halves, split_half_taus
from evaluation.metrics import UndefinedReason


def test_ceiling_equals_a_plain_loop_over_the_same_splits():
    values = np.random.default_rng(1).integers(0, 101, (21, 16)).astype(float)
    values[3, 1:] = np.nan  # somebody who rated one scale only
    halves = random_halves(21, 60, np.random.default_rng(7))
    expected = []
    for first in halves:
        a = np.nanmean(values[first], axis=0)
        b = np.nanmean(values[~first], axis=0)
        expected.append(stats.kendalltau(a, b).statistic)
    np.testing.assert_allclose(split_half_taus(values, halves), expected, atol=1e-12)
    found = noise_ceiling(values, n_splits=60, share=0.8, rng=np.random.default_rng(7))
    assert found.mean == pytest.approx(np.mean(expected))
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(expected, [0.1, 0.9])))
    assert (found.n_first, found.n_second, found.n_splits) == (10, 11, 60)


def test_every_split_puts_half_of_the_people_on_one_side_and_all_are_used():
    halves = random_halves(7, 200, np.random.default_rng(0))
    assert set(halves.sum(axis=1)) == {3}
    # Everybody is in the first half with probability 3/7 = 0.43, sd 0.035 over 200 splits.
    assert np.all(np.abs(halves.mean(axis=0) - 3 / 7) < 0.16)


def test_people_who_agree_entirely_reach_one():
    values = np.tile(np.arange(8.0), (6, 1))
    found = noise_ceiling(values, n_splits=20, share=0.8, rng=np.random.default_rng(0))
    assert (found.mean, found.low, found.high) == (1.0, 1.0, 1.0)


def test_people_at_random_stay_near_zero():
    # Two independent profiles of 16: tau has mean 0 and sd sqrt(2(2n+5)/(9n(n−1))) = 0.185; over
    # 12 studies the mean of means has sd about 0.053.
    rng = np.random.default_rng(6)
    found = [
        noise_ceiling(rng.uniform(0, 100, (20, 16)), n_splits=40, share=0.8, rng=rng).mean
        for _ in range(12)
    ]
    assert abs(np.mean(found)) < 0.2


@pytest.mark.parametrize(
    ("values", "n_splits", "reason"),
    [
        (np.empty((0, 4)), 10, UndefinedReason.NO_RATINGS),
        (np.full((3, 4), np.nan), 10, UndefinedReason.NO_RATINGS),
        (np.arange(4.0)[None, :], 10, UndefinedReason.ONE_RATER),
        (np.tile(np.arange(4.0), (4, 1)), 0, UndefinedReason.NOT_REQUESTED),
        (np.full((4, 4), 50.0), 10, UndefinedReason.FEW_SPLITS),
        (np.array([[1.0, 2, 3, np.nan], [np.nan, np.nan, 1, 2]]), 10, UndefinedReason.FEW_SPLITS),
    ],
)
def test_without_two_halves_to_compare_there_is_no_ceiling_but_a_reason(values, n_splits, reason):
    found = noise_ceiling(values, n_splits=n_splits, share=0.8, rng=np.random.default_rng(0))
    assert math.isnan(found.mean)
    assert found.reason == reason
