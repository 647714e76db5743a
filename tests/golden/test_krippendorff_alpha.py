"""Krippendorff's alpha against golden/expected/krippendorff.json, by the package krippendorff."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evaluation.metrics.krippendorff_alpha import krippendorff_alpha

pytestmark = pytest.mark.shared


def test_every_case_matches(shared_dir):
    golden = json.loads((shared_dir / "golden" / "expected" / "krippendorff.json").read_text())
    for case in golden["cases"]:
        ratings = np.array(case["annotators_by_units"], dtype=float)
        for measurement, expected in case["alpha"].items():
            found = krippendorff_alpha(ratings, measurement=measurement)
            tolerance = golden["header"]["tolerance"]["abs"]
            assert found.value == pytest.approx(expected, abs=tolerance), measurement
