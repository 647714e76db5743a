"""The solver of SeT against golden/expected/set_cases.json.

Those changes were verified against the released column squishing, a generic quadratic program
and a one-dimensional minimization (see the header of the file).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.probing.measures.one_position import minimal_changes

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def golden(shared_dir: Path) -> dict[str, Any]:
    file = shared_dir / "golden" / "expected" / "set_cases.json"
    return json.loads(file.read_text(encoding="utf-8"))


def test_small_layers_match_with_and_without_a_changeable_bias(golden: dict[str, Any]) -> None:
    rtol = golden["header"]["tolerance"]["rel"]
    assert len(golden["cases"]) == 24
    for case in golden["cases"]:
        weights, bias, hidden = (np.array(case[key]) for key in ("weights", "bias", "hidden"))
        logits = weights @ hidden + bias
        np.testing.assert_allclose(logits, case["logits"], rtol=1e-8, atol=1e-8)
        for expected, squared_norm in (
            (case["delta_squared_frobenius"], hidden @ hidden + 1.0),
            (case["delta_no_bias"], hidden @ hidden),
        ):
            found = minimal_changes(logits, [case["target"]], squared_norm, case["margin"])
            np.testing.assert_allclose(found, [expected], rtol=rtol, atol=1e-14)


def test_five_thousand_classes_match_from_one_sort(golden: dict[str, Any]) -> None:
    large = golden["large"]
    found = minimal_changes(large["logits"], large["targets"], large["x_norm_sq"])
    rtol = golden["header"]["tolerance"]["rel"]
    np.testing.assert_allclose(found, large["delta"], rtol=rtol)
