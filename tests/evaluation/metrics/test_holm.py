"""Holm's correction against a derivation by hand and values from statsmodels."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evaluation.metrics import holm_correction


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
