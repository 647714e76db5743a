"""t-tests against the textbook's formulas worked out here, and degenerate samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.t_test import t_test
from evaluation.metrics.undefined import UndefinedReason

X, Y = np.array([5.0, 4, 4, 3, 5, 2, 4, 5, 3]), np.array([3.0, 2, 4, 1, 2, 2, 3, 3])


def test_student_by_the_formula():
    # t = (x̄ − ȳ) / sqrt(s²(1/9 + 1/8)), s² pooled over 9 + 8 − 2 = 15 degrees of freedom.
    pooled = (8 * X.var(ddof=1) + 7 * Y.var(ddof=1)) / 15
    se = np.sqrt(pooled * (1 / 9 + 1 / 8))
    t = (X.mean() - Y.mean()) / se
    found = t_test(X, Y)
    half = stats.t.ppf(0.975, 15) * se
    assert found.difference == pytest.approx(35 / 9 - 20 / 8)
    assert (found.statistic, found.df) == pytest.approx((t, 15))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), 15))
    assert (found.low, found.high) == pytest.approx(
        (found.difference - half, found.difference + half)
    )


def test_welch_by_the_formula():
    # Welch and Satterthwaite: df = (a + b)² / (a²/8 + b²/7) with a = s²ₓ/9, b = s²ᵧ/8.
    a, b = X.var(ddof=1) / 9, Y.var(ddof=1) / 8
    found = t_test(X, Y, kind="welch")
    assert found.statistic == pytest.approx((X.mean() - Y.mean()) / np.sqrt(a + b))
    assert found.df == pytest.approx((a + b) ** 2 / (a**2 / 8 + b**2 / 7))


def test_paired_by_the_formula_leaves_incomplete_pairs_out():
    # Complete pairs differ by 2, 2, 0, 2, 3, 0, 1, 2: mean 1.5, var 8/7, t = 1.5 · √7 with df = 7.
    found = t_test(X, [*Y, np.nan], kind="paired")
    assert (found.difference, found.statistic, found.df) == pytest.approx((1.5, 1.5 * 7**0.5, 7))
    assert (found.n_first, found.n_second) == (8, 8)


def test_few_pairs_are_tested_by_all_signs():
    """1, 2, 3, 5: of 16 sums of signs 11 and −11 alone are as far from 0."""
    found = t_test([1, 2, 3, 5], np.zeros(4), kind="paired")
    assert (found.difference, found.p_value, found.reason) == (2.75, 2 / 16, "")
    assert np.isnan([found.low, found.high, found.statistic, found.df]).all()
    assert found.estimate.interval_reason == UndefinedReason.FEW_FOR_INTERVAL
    # 3, −1: sums ±4 and ±2.
    assert t_test([3, -1], [0, 0], kind="paired").p_value == 1
    assert t_test([3, 1], [0, 0], kind="paired").p_value == 0.5


@pytest.mark.parametrize("kind", ["student", "welch"])
def test_fewer_than_eight_values_on_a_side_have_no_test(kind):
    found = t_test(X, Y[:7], kind=kind)
    assert (found.difference, found.reason) == (
        pytest.approx(35 / 9 - 17 / 7),
        UndefinedReason.FEW_ON_A_SIDE,
    )
    assert np.isnan([found.low, found.p_value]).all()


def test_missing_values_do_not_count():
    assert t_test([*X, np.nan], Y) == t_test(X, Y)


@pytest.mark.parametrize("kind", ["student", "welch", "paired"])
def test_samples_without_spread_or_size_have_no_test(kind):
    same = t_test([3] * 8, [2] * 8, kind=kind)
    assert (same.difference, same.reason) == (1, UndefinedReason.NO_SPREAD)
    assert np.isnan([same.statistic, same.p_value, same.low]).all()
    few = t_test([3], [2], kind=kind)
    assert (few.difference, few.reason) == (1, UndefinedReason.FEW_FOR_TEST)
    assert np.isnan(t_test([], [], kind=kind).difference)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="9 and 8"):
        t_test(X, Y, kind="paired")
    with pytest.raises(ValueError, match="infinite"):
        t_test([1, np.inf], Y)
    with pytest.raises(ValueError, match="'z'"):
        t_test(X, Y, kind="z")
