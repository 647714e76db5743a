"""Slopes against the textbook's matrices, and samples without one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.slope import robust_intercept, robust_slope
from evaluation.metrics.undefined import UndefinedReason


def sample(n=40, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.gamma(1.5, 3, size=n)
    covariates = np.column_stack([rng.integers(2, size=n), rng.normal(size=n)])
    y = 2 * x + covariates @ [3, -1] + rng.normal(size=n) * (0.5 + x)
    return y, x, covariates


@pytest.mark.parametrize("adjusted", [False, True])
def test_slope_interval_and_p_by_the_sandwich_of_matrices(adjusted):
    """Long and Ervin (2000), eq. 5: (X'X)⁻¹ X' diag(eᵢ² / (1 − hᵢᵢ)²) X (X'X)⁻¹."""
    y, x, covariates = sample()
    design = np.column_stack([np.ones_like(x), x, *(covariates.T if adjusted else ())])
    bread = np.linalg.inv(design.T @ design)
    slopes = bread @ design.T @ y
    leverage = np.diag(design @ bread @ design.T)
    weights = ((y - design @ slopes) / (1 - leverage)) ** 2
    error = np.sqrt((bread @ design.T @ np.diag(weights) @ design @ bread)[1, 1])
    df = len(y) - design.shape[1]
    half = stats.t.ppf(0.95, df) * error
    found = robust_slope(y, x, covariates if adjusted else None, level=0.9)
    assert found.estimate.value == pytest.approx(slopes[1])
    assert (found.estimate.low, found.estimate.high) == pytest.approx(
        (slopes[1] - half, slopes[1] + half)
    )
    assert (found.statistic, found.df) == pytest.approx((slopes[1] / error, df))
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(slopes[1] / error), df))
    assert found.estimate.n == len(y)


def test_missing_values_do_not_count():
    y, x, covariates = sample()
    more = robust_slope([*y, np.nan, 1.0], [*x, 1.0, np.nan], np.vstack([covariates, [[0, 0]] * 2]))
    assert more.estimate == robust_slope(y, x, covariates).estimate


def test_a_unit_with_a_covariate_of_its_own_tells_nothing():
    """A source with one text has its own intercept, so that the text has no say in the slope."""
    y, x, _ = sample()
    alone = np.zeros(len(y))
    alone[0] = 1
    found, without = robust_slope(y, x, alone[:, None]), robust_slope(y[1:], x[1:])
    parts = [(s.estimate.value, s.estimate.low, s.p_value, s.df) for s in (found, without)]
    assert parts[0] == pytest.approx(parts[1])


@pytest.mark.parametrize(
    ("y", "x", "reason"),
    [
        ([1.0, 2, 3, 4, 5], [1.0, 2, 3, 4, 5], UndefinedReason.FEW_FOR_SLOPE),
        ([1.0, 2, 3, 4, 5, 7], [2.0] * 6, UndefinedReason.NO_SPREAD_OF_X),
        ([2.0] * 6, [1.0, 2, 3, 4, 5, 7], UndefinedReason.NO_SPREAD),
        ([], [], UndefinedReason.FEW_FOR_SLOPE),
    ],
)
def test_without_enough_or_spread_there_is_no_slope_but_a_reason(y, x, reason):
    found = robust_slope(y, x)
    assert np.isnan([found.estimate.value, found.p_value]).all()
    assert found.estimate.reason == reason


def test_points_on_a_line_have_a_slope_without_an_interval():
    found = robust_slope(np.arange(8.0) * 2, np.arange(8.0))
    assert found.estimate.value == pytest.approx(2)
    assert found.estimate.n == 8


def test_lists_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="of one length"):
        robust_slope([1.0, 2], [1.0])


def test_the_intercept_by_the_sandwich_of_matrices():
    """The same matrices, first parameter; a constant covariate drops out."""
    y, _, covariates = sample()
    design = np.column_stack([np.ones(len(y)), covariates])
    bread = np.linalg.inv(design.T @ design)
    found = bread @ design.T @ y
    leverage = np.diag(design @ bread @ design.T)
    weights = ((y - design @ found) / (1 - leverage)) ** 2
    error = np.sqrt((bread @ design.T @ np.diag(weights) @ design @ bread)[0, 0])
    half = stats.t.ppf(0.975, len(y) - 3) * error
    mine = robust_intercept(y, covariates)
    assert mine.estimate.value == pytest.approx(found[0])
    assert mine.estimate.low == pytest.approx(found[0] - half)
    assert mine.statistic == pytest.approx(found[0] / error)
    constant = np.column_stack([covariates, np.zeros(len(y))])
    assert robust_intercept(y, constant).estimate.value == pytest.approx(found[0])


def test_an_intercept_needs_units_and_spread():
    few = robust_intercept([1.0, 2.0], [[0.0], [1.0]])
    assert few.estimate.reason == UndefinedReason.FEW_FOR_SLOPE
    alike = robust_intercept(np.ones(9), np.arange(9.0)[:, None])
    assert alike.estimate.value == pytest.approx(1)
    assert alike.estimate.interval_reason == UndefinedReason.NO_SPREAD
