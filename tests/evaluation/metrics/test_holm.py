"""Holm's correction against a derivation by hand and values from statsmodels."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

import numpy as np
import pytest

from evaluation.metrics import holm_correction
from evaluation.metrics.holm import correct_rows


@dataclass(frozen=True)
class _Test:
    p_value: float


@dataclass(frozen=True)
class _Line:
    model: str
    test: _Test
    p_other: float
    p_holm: float = math.nan
    p_other_holm: float = math.nan


LINES = (
    _Line("a", _Test(0.01), 0.5),
    _Line("b", _Test(0.02), 0.1),
    _Line("a", _Test(0.04), 0.2),
)


def test_holm_by_hand():
    # Ascending 0.01 0.02 0.03 0.04 times 4 3 2 1 = 0.04 0.06 0.06 0.04; running maximum
    # 0.04 0.06 0.06 0.06; back in the order given.
    found = holm_correction([0.04, 0.01, 0.03, 0.02])
    np.testing.assert_allclose(found, [0.06, 0.04, 0.06, 0.06])


def test_missing_tests_stay_missing_and_do_not_count():
    np.testing.assert_allclose(holm_correction([0.01, np.nan, 0.04]), [0.02, np.nan, 0.04])


def test_corrected_values_stop_at_one():
    np.testing.assert_allclose(holm_correction([0.6, 0.9]), [1.0, 1.0])


def test_no_test_at_all_is_an_empty_list():
    assert holm_correction([]).size == 0


def test_values_outside_zero_to_one_are_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm_correction([0.5, 1.2])


def test_holm_matches_statsmodels(shared_dir):
    path = shared_dir / "golden" / "expected" / "agreement_and_tests.json"
    case = json.loads(path.read_text())["chi_square_goodness_of_fit"]
    np.testing.assert_allclose(holm_correction(case["p"]), case["p_holm"], rtol=1e-9)


def test_rows_are_corrected_together_in_their_order():
    # 0.01 × 3, 0.02 × 2 and 0.04 × 1; 0.1 × 3, 0.2 × 2 and 0.5 × 1.
    found = correct_rows(LINES, p_holm="test.p_value", p_other_holm="p_other")
    np.testing.assert_allclose([row.p_holm for row in found], [0.03, 0.04, 0.04])
    np.testing.assert_allclose([row.p_other_holm for row in found], [0.5, 0.3, 0.4])
    assert [row.test for row in found] == [row.test for row in LINES]


def test_rows_of_two_families_do_not_count_for_each_other():
    found = correct_rows(LINES, lambda row: row.model, p_holm="test.p_value")
    np.testing.assert_allclose([row.p_holm for row in found], [0.02, 0.02, 0.04])
    assert all(math.isnan(row.p_other_holm) for row in found)
