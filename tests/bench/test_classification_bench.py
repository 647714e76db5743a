"""The benchmark of classification measures both ways on the same sentences."""

from __future__ import annotations

import pytest

from tools.bench.classification import make_stimuli, run
from tools.bench.slot_checkpoint import Size

pytestmark = pytest.mark.slow


def test_a_small_run_measures_both_ways() -> None:
    size = Size(layers=1, hidden=16, heads=2, vocabulary=1_000, groups=2)
    assert len(make_stimuli(2, 1_000).sentences) == 24 * 2 * 21
    ours, bare, encoding, tuning, loop, saving = run(
        size, sentences=1_000, shards=2, steps=3, threads=1
    )
    assert ours.measured == bare.measured == 2 * 256
    assert ours.figures["share of the bare pass"] > 0
    assert encoding.seconds > 0
    assert tuning.figures["share of the bare loop"] > 0
    assert min(loop.seconds, saving.seconds) > 0
