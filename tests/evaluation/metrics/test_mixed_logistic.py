"""Mixed logistic regression: a published fit, plain logistic regression, and known truths."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import gammaln

from evaluation.metrics.mixed_logistic import SEPARATED, fit_mixed_logistic

#: Contagious bovine pleuropneumonia (Lesnoff et al. 2004), data set `cbpp` of lme4: new cases and
#: size of the herd in four periods, herd by herd.
CASES = (
    "2/14 3/12 4/9 0/5", "3/22 1/18 1/21", "8/22 2/16 0/16 2/20", "2/10 0/10 2/9 0/6",
    "5/18 0/25 0/24 1/4", "3/17 0/17 0/18 1/20", "8/16 1/10 3/9 0/5", "12/34", "2/9 0/6 0/8 0/6",
    "1/22 1/22 0/18 2/22", "0/25 5/27 3/22 1/22", "2/10 1/8 0/6 0/5", "1/21 2/24 0/19 0/23",
    "11/19 0/2 0/3 0/2", "1/19 1/15 1/15 0/15",
)  # fmt: skip


def test_the_fit_is_that_of_lme4_and_of_mixed_models() -> None:
    """Estimates of MixedModels.jl; standard errors and deviance of lme4 at a tight tolerance.

    lme4's default stops early, at −1.39834, −0.99192, −1.12822, −1.57975 and 184.0531.
    """
    rows = [
        (herd, period, *map(int, cell.split("/")))
        for herd, line in enumerate(CASES)
        for period, cell in enumerate(line.split())
    ]
    herd, period, cases, size = np.array(rows).T
    design = np.column_stack([np.ones(56), *(period == n for n in (1, 2, 3))]).astype(float)
    fit = fit_mixed_logistic(cases.astype(float), size.astype(float), design, [herd])
    assert fit.coefficients == pytest.approx([-1.39853, -0.992333, -1.12867, -1.58031], abs=1e-5)
    assert np.sqrt(np.diag(fit.covariance)) == pytest.approx(
        [0.2325, 0.3066, 0.3266, 0.4274], abs=1e-4
    )
    assert fit.sds == pytest.approx((0.642261,), abs=1e-5)
    binomial = (gammaln(size + 1) - gammaln(cases + 1) - gammaln(size - cases + 1)).sum()
    assert fit.deviance - 2 * binomial == pytest.approx(184.0526, abs=1e-4)
    assert fit.n == size.sum()


def test_without_spread_between_levels_it_is_logistic_regression() -> None:
    """Two groups of 30/100 and 60/100 in every level: log odds, variance 1/a + 1/b."""
    levels = np.repeat(np.arange(5), 2)
    group = np.tile([0, 1], 5)
    successes = np.where(group, 12.0, 6.0)
    fit = fit_mixed_logistic(successes, np.full(10, 20.0), np.eye(2)[group], [levels, group * 0])
    assert fit.coefficients == pytest.approx([math.log(30 / 70), math.log(60 / 40)], abs=1e-5)
    expected = [1 / 30 + 1 / 70, 1 / 60 + 1 / 40]
    assert np.diag(fit.covariance) == pytest.approx(expected, rel=1e-3)
    assert fit.sds == pytest.approx((0, 0), abs=1e-3)


def test_crossed_effects_are_told_apart() -> None:
    """120 templates with sd 1.2, 8 words with none, 6 runs with 0.5; two groups 0.8 apart."""
    rng = np.random.default_rng(5)
    word, template, run = (part.ravel() for part in np.mgrid[0:8, 0:120, 0:6])
    group = word % 2
    eta = -1 + 0.8 * group + rng.normal(0, 1.2, 120)[template] + rng.normal(0, 0.5, 6)[run]
    said = (rng.random(len(eta)) < 1 / (1 + np.exp(-eta))).astype(float)
    fit = fit_mixed_logistic(said, np.ones(len(eta)), np.eye(2)[group], [template, word, run])
    difference = fit.coefficients[1] - fit.coefficients[0]
    error = math.sqrt(np.array([-1, 1]) @ fit.covariance @ np.array([-1, 1]))
    assert abs(difference - 0.8) < 3 * error < 0.5
    assert fit.sds[0] == pytest.approx(1.2, abs=0.3)
    assert fit.sds[1] < 0.2
    assert 0.15 < fit.sds[2] < 1.1


def test_a_group_without_errors_has_no_fit() -> None:
    group = np.tile([0, 1], 10)
    fit = fit_mixed_logistic(
        np.where(group, 3.0, 0.0), np.full(20, 6.0), np.eye(2)[group], [np.repeat(np.arange(10), 2)]
    )
    assert fit.reason == SEPARATED
    assert np.isnan(fit.coefficients).all()
