"""Intervals from resamples against derivations by hand and against scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics import UndefinedReason, bias_corrected_interval, recentered_interval
from evaluation.metrics.interval import BIAS_CORRECTED, RECENTERED

EVEN = np.linspace(0.0, 1.0, 1001)  # resamples whose quantile function is the identity


def test_without_median_bias_the_corrected_interval_is_the_percentile_interval():
    found = bias_corrected_interval(0.5, EVEN)
    assert (found.low, found.high) == pytest.approx((0.025, 0.975), abs=1e-3)
    assert (found.method, found.n_resamples, found.n_skipped) == (BIAS_CORRECTED, 1001, 0)


def test_median_bias_shifts_both_percentiles():
    # The estimate lies at the 69.146th percentile of the resamples: z0 = 0.5, so the limits are
    # the percentiles Φ(1 ± 1.96): Φ(−0.96) = 0.1685 and Φ(2.96) = 0.9985.
    found = bias_corrected_interval(0.69146, EVEN)
    assert (found.low, found.high) == pytest.approx((0.1685, 0.9985), abs=1e-3)


def test_ties_with_the_estimate_count_half():
    # All resamples equal the estimate: z0 = Φ⁻¹(0.5) = 0, and the interval is that point.
    found = bias_corrected_interval(0.7, np.full(200, 0.7))
    assert (found.low, found.high, found.method) == (0.7, 0.7, BIAS_CORRECTED)


def test_large_median_bias_falls_back_to_recentring_and_says_so():
    # At the 90th percentile z0 is 1.28. Recentered: 0.025 and 0.975 moved by 0.9 − 0.5, cut at 1.
    found = bias_corrected_interval(0.9, EVEN, bounds=(0.0, 1.0))
    assert found.method == RECENTERED
    assert (found.low, found.high) == pytest.approx((0.425, 1.0), abs=1e-3)


def test_an_estimate_outside_all_resamples_still_lies_in_its_interval():
    found = bias_corrected_interval(2.0, EVEN)
    assert found.low < 2.0 < found.high


def test_an_estimate_that_nearly_all_resamples_equal_lies_in_its_recentered_interval():
    # Mean 0.498; both percentiles are 0.5 and would move to 0.502.
    found = recentered_interval(0.5, [0.5] * 98 + [0.4] * 2)
    assert (found.low, found.high) == pytest.approx((0.5, 0.502))


def test_bias_corrected_limits_match_scipy_where_its_acceleration_vanishes():
    # For a mean of symmetric data the jackknife acceleration is 0 and BCa equals BC.
    data = np.concatenate([np.arange(1, 16), -np.arange(1, 16)]).astype(float)
    reference = stats.bootstrap(
        (data,), np.mean, n_resamples=4000, method="BCa", random_state=np.random.default_rng(2)
    )
    found = bias_corrected_interval(data.mean(), reference.bootstrap_distribution)
    expected = reference.confidence_interval
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.02)


def test_resamples_that_failed_are_skipped_and_counted():
    found = recentered_interval(0.5, [*EVEN, np.nan, np.nan])
    assert (found.n_resamples, found.n_skipped) == (1001, 2)
    assert (found.low, found.high) == pytest.approx((0.025, 0.975), abs=1e-3)


@pytest.mark.parametrize("make", [bias_corrected_interval, recentered_interval])
def test_no_interval_without_estimate_or_with_few_resamples(make):
    missing = make(math.nan, EVEN)
    assert math.isnan(missing.low)
    assert missing.reason == UndefinedReason.NO_ESTIMATE
    for draws in ([], [0.5, np.nan, np.nan], [np.nan]):
        found = make(0.5, draws)
        assert math.isnan(found.high)
        assert found.reason == UndefinedReason.FEW_RESAMPLES


def test_bad_levels_and_shapes_are_refused():
    with pytest.raises(ValueError, match="level is 95"):
        bias_corrected_interval(0.5, EVEN, level=95)
    with pytest.raises(ValueError, match="list of resampled"):
        recentered_interval(0.5, [[0.1, 0.2]])
