"""Intervals and tests of gaps answer one question: neither says what the other denies."""

from __future__ import annotations

import numpy as np

from evaluation.analyses.direction_gaps import DirectionOptions, DirectionTable

N_PAIRS, N_STUDIES = 100, 200


def test_p_is_below_5_percent_where_the_interval_leaves_out_zero():
    """The interval resamples pairs, the test is a paired t: they part only near 5 %, by what 1,000
    resamples and 100 pairs leave open, and in few of 200 random studies."""
    apart = []
    for seed in range(N_STUDIES):
        rng = np.random.default_rng(seed)
        into_wme = rng.normal(60, 10, size=N_PAIRS)
        into_aal = into_wme + rng.normal(rng.choice([0.0, 1.0, 2.0]), 5, size=N_PAIRS)
        values = {("m", "AAL", "rouge1"): into_aal, ("m", "WME", "rouge1"): into_wme}
        options = DirectionOptions(n_resamples=1000, seed=seed)
        table = DirectionTable([f"p{i}" for i in range(N_PAIRS)], values, {}, options)
        (gap,) = table.gaps()
        leaves_out_zero = not gap.estimate.low <= 0 <= gap.estimate.high
        if leaves_out_zero != (gap.test.p_value < 0.05):
            apart.append(gap.test.p_value)
    assert len(apart) <= 0.05 * N_STUDIES
    assert all(0.02 < p < 0.1 for p in apart), apart
