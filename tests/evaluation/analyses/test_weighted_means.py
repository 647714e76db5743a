"""Means under many weightings at once, beside a plain loop with exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from evaluation.analyses.weighted_means import weighted_means


def plain_mean(values: np.ndarray, weights: np.ndarray) -> float:
    """The rounded exact mean; NaN where nobody with a weight has a value."""
    pairs = [(Fraction(v), int(w)) for v, w in zip(values, weights, strict=True) if v == v]
    total = sum(w for _, w in pairs)
    return float(sum(v * w for v, w in pairs) / total) if total else np.nan


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int64, float])
def test_means_of_whole_ratings_are_exact(kind: type) -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 101, (40, 35)).astype(float)
    values[rng.random(values.shape) < 0.6] = np.nan
    values[:, 7] = np.nan  # a cell that nobody rated
    weights = rng.poisson(1, (25, 40)).astype(kind)
    weights[3] = 0  # a draw without anybody
    expected = [[plain_mean(column, row) for column in values.T] for row in weights]
    np.testing.assert_array_equal(weighted_means(values, weights), expected)


def test_values_with_decimals_keep_them() -> None:
    # In single precision 1/3 is off by 1e-8.
    rng = np.random.default_rng(2)
    values, weights = rng.random((30, 4)), rng.integers(0, 5, (6, 30))
    expected = [[plain_mean(column, row) for column in values.T] for row in weights]
    np.testing.assert_allclose(weighted_means(values, weights), expected, rtol=1e-14)


def test_sums_too_large_for_single_precision_stay_exact() -> None:
    # 2**24 + 1 is the first whole number that single precision lacks.
    values = np.array([[1.0], [0.0]])
    weights = np.array([[2**24 + 1, 2**24 + 2]])
    assert weighted_means(values, weights)[0, 0] == (2**24 + 1) / (2**25 + 3)
