"""Intervals and tests of gaps answer one question: neither says what the other denies."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.analyses.direction_gaps import DirectionOptions, DirectionTable
from evaluation.metrics.bootstrap import Bootstrap
from evaluation.metrics.t_test import TEST_KINDS, TestKind

N_STUDIES = 200


@pytest.mark.parametrize("kind", TEST_KINDS)
def test_p_is_below_5_percent_exactly_where_the_interval_leaves_out_zero(kind: TestKind) -> None:
    """Both are of one test, of gaps and of contrasts: there is no resampling error to allow for."""
    tested = 0
    for seed in range(N_STUDIES):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(8, 40))
        into_wme = rng.normal(60, 10, size=n)
        into_aal = into_wme + rng.normal(rng.choice([0.0, 3.0, 6.0]), 5, size=n)
        values = {
            ("m", "AAL", "rouge1"): into_aal,
            ("m", "WME", "rouge1"): into_wme,
            ("repeat", "AAL", "rouge1"): rng.gamma(1.0, 30.0, size=n),
        }
        options = DirectionOptions(test=kind, n_resamples=0, seed=seed)
        table = DirectionTable([f"p{i}" for i in range(n)], values, {}, options)
        for row in (*table.gaps(), *table.contrasts("repeat")):
            assert row.estimate.low < row.estimate.value < row.estimate.high
            leaves_out_zero = not row.estimate.low <= 0 <= row.estimate.high
            assert (row.test.p_value < 0.05) == leaves_out_zero
            tested += leaves_out_zero
    assert tested > N_STUDIES / 10


def test_resamples_and_test_of_large_studies_nearly_agree() -> None:
    """Percentiles of a mean's resamples are near those of t where there are many pairs."""
    rng = np.random.default_rng(0)
    into_wme, into_aal = rng.normal(size=(2, 400))
    values = {("m", "AAL", "rouge1"): into_aal, ("m", "WME", "rouge1"): into_wme}
    table = DirectionTable([f"p{i}" for i in range(400)], values, {}, DirectionOptions())
    (gap,) = table.gaps()
    drawn = Bootstrap(400).mean_difference(into_aal, into_wme)
    assert (gap.estimate.low, gap.estimate.high) == pytest.approx((drawn.low, drawn.high), abs=0.02)
