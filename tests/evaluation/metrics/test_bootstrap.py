"""The bootstrap against theory and against resampling one by one."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.metrics.bootstrap import Bootstrap
from evaluation.metrics.undefined import UndefinedReason


def test_the_interval_of_a_mean_is_that_of_theory():
    # For 400 values the bootstrap's sd is sd(ddof 0)/√400 and the distribution is near normal.
    x = np.random.default_rng(0).exponential(size=400)
    found = Bootstrap(400, n_resamples=8000, seed=1).mean(x)
    half = 1.96 * x.std() / 20
    assert found.value == pytest.approx(x.mean())
    assert (found.low, found.high) == pytest.approx((x.mean() - half, x.mean() + half), abs=0.01)
    assert found.n == 400


def test_a_difference_is_resampled_in_pairs():
    # Values that differ by 1 or by 1.2 in every pair, however far the pairs lie apart: the mean
    # difference is 1.1, and every resample's lies between them.
    x = 100 * np.random.default_rng(0).normal(size=50)
    found = Bootstrap(50, seed=1).mean_difference(x + np.tile([1, 1.2], 25), x)
    assert found.value == pytest.approx(1.1)
    assert 1 < found.low < 1.1 < found.high < 1.2


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1e6])
def test_values_that_are_all_alike_have_no_interval(value):
    """Every resample of k equal values has their mean: the interval would be [value, value]."""
    found = Bootstrap(7).mean(np.full(7, value))
    assert (found.value, found.n) == (pytest.approx(value), 7)
    assert (np.isnan(found.low), found.interval_reason) == (True, UndefinedReason.ALL_ALIKE)
    x = np.arange(7.0)
    apart = Bootstrap(7).mean_difference(x + value, x)
    assert apart.value == pytest.approx(value)
    assert apart.interval_reason == UndefinedReason.ALL_ALIKE
    # One value of many that differs is enough for one.
    found = Bootstrap(40).mean([value] * 39 + [value + 1])
    assert found.low < found.value < found.high


def test_fewer_than_forty_units_have_no_interval():
    x = np.random.default_rng(0).normal(size=40)
    few = Bootstrap(40).mean(np.where(np.arange(40) == 0, np.nan, x))
    assert few.value == pytest.approx(x[1:].mean())
    assert (np.isnan(few.low), few.interval_reason) == (True, UndefinedReason.FEW_RESAMPLED)
    assert Bootstrap(40).mean(x).low < x.mean()


def test_missing_values_are_left_out():
    found = Bootstrap(4).mean([1.0, np.nan, 3.0, np.nan])
    assert (found.value, found.n) == (2, 2)
    difference = Bootstrap(3).mean_difference([1, np.nan, 3], [0, 5, np.nan])
    assert (difference.value, difference.n) == (2 - 2.5, 1)


def test_a_ratio_weighs_units_by_their_denominator():
    found = Bootstrap(40).ratio([1, 9] * 20, [1, 3] * 20, n=40)
    # (1 + 9) / (1 + 3); resamples lie between 1 and 3.
    assert found.value == 2.5
    assert 1 <= found.low < 2.5 < found.high <= 3


@pytest.mark.parametrize("n_units", [200, 9000])
def test_resamples_that_are_not_held_are_the_same_each_time(n_units):
    x = np.arange(n_units, dtype=float)
    bootstrap = Bootstrap(n_units, n_resamples=1000, seed=3)
    first, second = bootstrap.mean(x), bootstrap.mean(x)
    assert first == second == Bootstrap(n_units, n_resamples=1000, seed=3).mean(x)
    assert first.low < first.value < first.high


def test_what_cannot_be_said_has_a_reason():
    none = Bootstrap(2).mean([np.nan, np.nan])
    assert (none.n, none.reason) == (0, UndefinedReason.NO_VALUES)
    assert np.isnan([none.value, none.low]).all()
    one = Bootstrap(2).mean([np.nan, 3])
    assert (one.value, one.reason, one.interval_reason) == (3, "", UndefinedReason.ONE_TEXT)
    assert Bootstrap(2, n_resamples=0).mean([1, 2]).interval_reason == UndefinedReason.NOT_REQUESTED
    assert Bootstrap(0).mean([]).reason == UndefinedReason.NO_VALUES


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="2 units"):
        Bootstrap(2).mean([1, 2, 3])
    with pytest.raises(ValueError, match="n_resamples is -1"):
        Bootstrap(2, n_resamples=-1)
    with pytest.raises(ValueError, match="level is 95"):
        Bootstrap(2, level=95)
