"""The benchmark of matched guises on a small model: both ways give the same numbers."""

from __future__ import annotations

import pytest

from tools.bench.guise_checkpoints import Size
from tools.bench.matched_guise import run

pytestmark = pytest.mark.slow

SMALL = Size(layers=1, hidden=16, heads=2, vocabulary=3500)


def test_both_ways_agree_and_a_run_stays_small():
    rows = {row.case: row for row in run(SMALL, pairs=4, stored=100, kinds=("causal",))}
    assert list(rows) == [
        "matched_guise, causal",
        "bare batched pass, causal",
        "plain loop, causal",
        "aggregation of a stored run",
    ]
    ours = rows["matched_guise, causal"].figures
    assert ours["largest difference of a log ratio"] < 1e-4
    assert ours["share of the bare pass"] > 0
    # 2,000 pairs are to take less than 20 MB, so 100 of them less than 1.
    assert rows["aggregation of a stored run"].figures["stored, MB"] < 1
