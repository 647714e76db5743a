"""The benchmark of CEAT on a small model: it reads what the bare pass reads."""

from __future__ import annotations

import pytest

from tools.bench.ceat import run
from tools.bench.slot_checkpoint import Size

pytestmark = pytest.mark.slow

SMALL = Size(layers=1, hidden=16, heads=2, vocabulary=600, groups=2)


def test_both_ways_read_the_same_sentences() -> None:
    ours, bare = run(SMALL)
    # ten sentences for two groups and for 32 adjectives
    assert ours.units == bare.units == f"340 sentences, {SMALL}"
    assert ours.figures["share of the bare pass"] > 0
