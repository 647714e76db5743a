"""Wilson's interval against the values recomputed for Deas et al. (2023), Table 3."""

from __future__ import annotations

import json

import pytest

from evaluation.metrics.type_token import wilson_interval

pytestmark = pytest.mark.shared


@pytest.mark.parametrize("variety", ["AAL", "WME"])
@pytest.mark.parametrize("level", [95, 99])
def test_wilson_interval_matches(shared_dir, variety, level):
    file = shared_dir / "golden" / "expected" / "published_values.json"
    row = json.loads(file.read_text(encoding="utf-8"))["deas_2023"]["table_3_wilson"][variety]
    found = wilson_interval(row["p"], row["n"], level=level / 100)
    # The file keeps four decimals; the paper prints three, and they are those of 99 %.
    assert found == pytest.approx(row[f"wilson_{level}"], abs=5.1e-5)
    if level == 99:
        assert found == pytest.approx(row["printed"], abs=1.1e-3)
