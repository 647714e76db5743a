"""Quotients, means and spreads of known values, and shares of draws, against sums by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evaluation.metrics.draws import draw_counts, middle
from evaluation.metrics.known_values import (
    mean_of_known,
    quotient,
    sd_of_known,
    weighted_mean_of_known,
)

NAN = math.nan
VALUES = np.array([[1.0, NAN, NAN], [3.0, 5.0, NAN]])


def test_quotient_is_missing_where_nothing_is_divided_by():
    assert quotient([6.0, 1.0, 1.0], np.array([4.0, 0.0, -1.0])) == pytest.approx(
        [1.5, NAN, NAN], nan_ok=True
    )


def test_mean_passes_missing_values_over():
    assert mean_of_known(VALUES, axis=0) == pytest.approx([2.0, 5.0, NAN], nan_ok=True)
    assert mean_of_known(VALUES, axis=1) == pytest.approx([1.0, 4.0])


def test_weighted_mean_counts_weights_of_known_values_alone():
    weights = np.array([[1.0, 3.0], [1.0, 0.0]])
    # First row: (1·1 + 3·3) / 4 and 3·5 / 3; second row: the first value, and nothing.
    assert weighted_mean_of_known(VALUES, weights) == pytest.approx(
        np.array([[2.5, 5.0, NAN], [1.0, NAN, NAN]]), nan_ok=True
    )


def test_spread_needs_two_known_values():
    assert sd_of_known([1.0, NAN, 3.0]) == pytest.approx(math.sqrt(2))
    assert math.isnan(sd_of_known([1.0, NAN]))


def test_every_resample_draws_as_many_units_as_there_are():
    drawn = draw_counts(np.random.default_rng(1), 5, 40)
    assert drawn.shape == (40, 5)
    assert (drawn.sum(axis=1) == 5).all()
    assert draw_counts(np.random.default_rng(1), 0, 3).shape == (3, 0)


def test_middle_share_leaves_missing_draws_out():
    assert middle([NAN, *range(101)], 0.9) == pytest.approx((5.0, 95.0))
