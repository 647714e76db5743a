"""t-tests against the textbook's formulas worked out here, and degenerate samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.t_test import t_test
from evaluation.metrics.undefined import UndefinedReason

X, Y = np.array([5.0, 4, 4, 3, 5, 2]), np.array([3.0, 2, 4, 1])


def test_student_by_the_formula():
    # t = (x̄ − ȳ) / sqrt(s²(1/6 + 1/4)), s² pooled over 6 + 4 − 2 = 8 degrees of freedom.
    pooled = (5 * X.var(ddof=1) + 3 * Y.var(ddof=1)) / 8
    se = np.sqrt(pooled * (1 / 6 + 1 / 4))
    t = (X.mean() - Y.mean()) / se
    found = t_test(X, Y)
    half = stats.t.ppf(0.975, 8) * se
    assert found.difference == pytest.approx(23 / 6 - 10 / 4)
    assert (found.statistic, found.df) == pytest.approx((t, 8))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), 8))
    assert (found.low, found.high) == pytest.approx(
        (found.difference - half, found.difference + half)
    )


def test_welch_by_the_formula():
    # Welch and Satterthwaite: df = (a + b)² / (a²/5 + b²/3) with a = s²ₓ/6, b = s²ᵧ/4.
    a, b = X.var(ddof=1) / 6, Y.var(ddof=1) / 4
    found = t_test(X, Y, kind="welch")
    assert found.statistic == pytest.approx((X.mean() - Y.mean()) / np.sqrt(a + b))
    assert found.df == pytest.approx((a + b) ** 2 / (a**2 / 5 + b**2 / 3))


def test_paired_by_the_formula_leaves_incomplete_pairs_out():
    # Complete pairs differ by 2, 2, 0, 2: mean 1.5, sd 1, t = 1.5 / (1/2) = 3 with df = 3.
    found = t_test(X, [*Y, np.nan, np.nan], kind="paired")
    assert (found.difference, found.statistic, found.df) == pytest.approx((1.5, 3, 3))
    assert (found.n_first, found.n_second) == (4, 4)


def test_missing_values_do_not_count():
    assert t_test([*X, np.nan], Y) == t_test(X, Y)


@pytest.mark.parametrize("kind", ["student", "welch", "paired"])
def test_samples_without_spread_or_size_have_no_test(kind):
    same = t_test([3, 3, 3], [2, 2, 2], kind=kind)
    assert (same.difference, same.reason) == (1, UndefinedReason.NO_SPREAD)
    assert np.isnan([same.statistic, same.p_value, same.low]).all()
    few = t_test([3], [2], kind=kind)
    assert (few.difference, few.reason) == (1, UndefinedReason.FEW_FOR_TEST)
    assert np.isnan(t_test([], [], kind=kind).difference)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="6 and 4"):
        t_test(X, Y, kind="paired")
    with pytest.raises(ValueError, match="infinite"):
        t_test([1, np.inf], Y)
    with pytest.raises(ValueError, match="'z'"):
        t_test(X, Y, kind="z")
