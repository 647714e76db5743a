"""Kendall's tau-b against scipy, a hand count, and its own symmetries."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from evaluation.metrics import (
    UndefinedReason,
    kendall_tau_b,
    kendall_tau_b_batch,
    tau_over_scales,
)

lists_with_ties = st.integers(3, 12).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 5), min_size=n, max_size=n),
        st.lists(st.integers(0, 5), min_size=n, max_size=n),
    )
)


def test_tau_b_equals_a_hand_count():
    # x = 1 2 2 3, y = 1 3 2 2. Pairs: (1,2) +, (1,3) +, (1,4) +, (2,3) tied in x,
    # (2,4) −, (3,4) tied in y. C − D = 3 − 1 = 2; untied in x 5, untied in y 5; tau-b = 2/5.
    assert kendall_tau_b([1, 2, 2, 3], [1, 3, 2, 2]).value == pytest.approx(0.4, abs=1e-15)


def test_exact_p_value_of_perfect_order_follows_from_counting_permutations():
    # Of the 4! = 24 orders, one agrees fully and one disagrees fully: p = 2/24.
    assert kendall_tau_b([1, 2, 3, 4], [10, 20, 30, 40]).p_value == pytest.approx(2 / 24)


def test_value_and_p_value_are_those_of_scipy():
    rng = np.random.default_rng(3)
    for high in (4, 1000):
        x, y = rng.integers(0, high, 40), rng.integers(0, high, 40)
        expected = stats.kendalltau(x, y)
        found = kendall_tau_b(x, y)
        assert (found.value, found.p_value) == (expected.statistic, expected.pvalue)


def test_missing_positions_are_dropped_from_both_lists():
    found = kendall_tau_b([1, np.nan, 2, 3, 4], [1, 2, 3, np.nan, 4])
    assert (found.value, found.n) == (1.0, 3)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ([1, 2], [1, 2], UndefinedReason.TOO_FEW),
        ([], [], UndefinedReason.TOO_FEW),
        ([5, 5, 5], [1, 2, 3], UndefinedReason.CONSTANT_FIRST),
        ([1, 2, 3], [5, 5, 5], UndefinedReason.CONSTANT_SECOND),
    ],
)
def test_undefined_tau_is_nan_with_a_reason(first, second, reason):
    found = kendall_tau_b(first, second)
    assert math.isnan(found.value)
    assert math.isnan(found.p_value)
    assert found.reason == reason


def test_infinite_values_and_unequal_lengths_are_refused():
    with pytest.raises(ValueError, match="infinite"):
        kendall_tau_b([1, 2, np.inf], [1, 2, 3])
    with pytest.raises(ValueError, match="equal length"):
        kendall_tau_b([1, 2, 3], [1, 2])


@settings(max_examples=60, deadline=None)
@given(lists_with_ties)
def test_tau_is_symmetric_and_turns_sign_with_one_list(pair):
    x, y = map(np.asarray, pair)
    forward, backward = kendall_tau_b(x, y).value, kendall_tau_b(y, x).value
    turned = kendall_tau_b(-x, y).value
    np.testing.assert_allclose([backward, -turned], [forward, forward], atol=1e-12)


@pytest.mark.parametrize("high", [3, 20, 10_000])
def test_batch_equals_scipy_row_by_row(high):
    rng = np.random.default_rng(high)
    x, y = rng.integers(0, high, (30, 25)), rng.integers(0, high, (30, 25))
    shared = [stats.kendalltau(row, y[0]).statistic for row in x]
    paired = [stats.kendalltau(a, b).statistic for a, b in zip(x, y, strict=True)]
    np.testing.assert_allclose(kendall_tau_b_batch(x, y[0]), shared, atol=1e-12)
    np.testing.assert_allclose(kendall_tau_b_batch(x, y), paired, atol=1e-12)


def test_batch_tells_values_apart_that_differ_in_the_last_digit():
    # A difference below single precision must not become a tie.
    x = np.array([[50.0, np.nextafter(50.0, 51.0), 60.0]])
    assert kendall_tau_b_batch(x, [1.0, 2.0, 3.0])[0] == pytest.approx(1.0)


def test_weights_stand_for_repeated_positions():
    rng = np.random.default_rng(8)
    x, y = rng.integers(0, 6, (20, 10)), rng.integers(0, 6, 10)
    counts = rng.multinomial(10, np.full(10, 0.1), size=20)
    expected = [
        stats.kendalltau(np.repeat(row, c), np.repeat(y, c)).statistic
        for row, c in zip(x, counts, strict=True)
    ]
    np.testing.assert_allclose(kendall_tau_b_batch(x, y, counts), expected, atol=1e-12)


def test_batch_drops_missing_positions_of_every_row():
    rng = np.random.default_rng(9)
    x, y = rng.normal(size=(20, 12)), rng.normal(size=12)
    x[rng.random(x.shape) < 0.3] = np.nan
    y[4] = np.nan
    expected = [stats.kendalltau(row, y, nan_policy="omit").statistic for row in x]
    np.testing.assert_allclose(kendall_tau_b_batch(x, y), expected, atol=1e-12)


def test_long_rows_give_the_same_as_short_ones():
    # A row repeated end to end has every pair of the short row four times over and ties with
    # itself: tau of the doubled list equals that of the list with every position drawn twice.
    rng = np.random.default_rng(12)
    x, y = rng.integers(0, 50, (6, 300)).astype(float), rng.integers(0, 50, 300).astype(float)
    x[0, 5:40] = np.nan
    x[1] = 7.0
    x[2] = np.nan
    doubled = kendall_tau_b_batch(np.tile(x, 2), np.tile(y, 2))
    twice = kendall_tau_b_batch(x, y, np.full(x.shape, 2))
    np.testing.assert_allclose(doubled, twice, atol=1e-12)
    assert np.isnan(doubled).tolist() == [False, True, True, False, False, False]


def test_batch_gives_nan_for_flat_rows_without_warning():
    found = kendall_tau_b_batch([[1, 1, 1], [1, 2, 3], [np.nan] * 3], [1, 2, 3])
    np.testing.assert_array_equal(found, [np.nan, 1.0, np.nan])


def test_batch_refuses_shapes_and_weights_that_do_not_fit():
    with pytest.raises(ValueError, match="do not fit"):
        kendall_tau_b_batch([[1, 2, 3]], [1, 2])
    with pytest.raises(ValueError, match="weights have shape"):
        kendall_tau_b_batch([[1, 2, 3]], [1, 2, 3], [1, 1, 1])
    with pytest.raises(ValueError, match="counts"):
        kendall_tau_b_batch([[1, 2, 3]], [1, 2, 3], [[1, -1, 1]])


def test_scales_are_left_out_in_turn():
    """Against scipy's jackknife by hand: pseudo-values of artanh τ and their t-test."""
    rng = np.random.default_rng(4)
    x = rng.integers(0, 30, 14).astype(float)
    y = x + rng.integers(0, 40, 14)
    x[3] = np.nan
    rows = np.column_stack([x, y])[~np.isnan(x)]
    n = len(rows)

    def value(some: np.ndarray) -> float:
        return math.atanh(stats.kendalltau(*some.T).statistic)

    pseudo = [n * value(rows) - (n - 1) * value(np.delete(rows, i, axis=0)) for i in range(n)]
    error = np.std(pseudo, ddof=1) / math.sqrt(n)
    reach = stats.t.ppf(0.95, n - 1) * error
    found, p_value = tau_over_scales(x, y, level=0.9)
    ends = (math.tanh(value(rows) + side * reach) for side in (-1, 1))
    assert (found.low, found.high) == pytest.approx(tuple(ends))
    assert p_value == pytest.approx(2 * stats.t.sf(value(rows) / error, n - 1))


def test_few_scales_and_perfect_orders_have_no_interval():
    ten = np.arange(10.0)
    for x, y, why in (
        (ten[:9], ten[:9] ** 2 % 7, UndefinedReason.FEW_SCALES),
        (ten, ten, UndefinedReason.AT_LIMIT),
        (ten, np.ones(10), UndefinedReason.AT_LIMIT),
        (ten, np.array([9, 0, 1, 2, 3, 4, 5, 6, 7, 8.0]), UndefinedReason.AT_LIMIT),
    ):
        found, p_value = tau_over_scales(x, y)
        assert (found.reason, math.isnan(found.low), math.isnan(p_value)) == (why, True, True)
