"""Crossed random effects against statsmodels, a table worked by hand, and simulated samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.crossed_effects import crossed_effects


def drawn(n: int, p: int, texts: float, prompts: float, rest: float, seed: int) -> np.ndarray:
    """Return a table of prompts × texts with these standard deviations and a mean of 0.2."""
    rng = np.random.default_rng(seed)
    text, prompt, noise = rng.normal(size=n), rng.normal(size=p), rng.normal(size=(p, n))
    return (0.2 + texts * text + prompts * prompt[:, None] + rest * noise).round(3)


#: statsmodels 0.15.0, MixedLM by REML with variance components for text and prompt in one group:
#: mean, its standard error, variances of texts, prompts and the rest.
@pytest.mark.parametrize(
    ("table", "mean", "error", "variances"),
    [
        (drawn(8, 4, 0.5, 0.4, 0.3, 0), 0.1180625, 0.191613, (0.118736, 0.079659, 0.062691)),
        (drawn(10, 3, 0.6, 0.0, 0.5, 1), 0.2690333, 0.139726, (0.102713, 0.0, 0.277560)),
        (drawn(12, 5, 0.0, 0.5, 0.4, 2), 0.1811333, 0.121061, (0.025168, 0.050615, 0.146118)),
    ],
)
def test_mean_error_and_variances_are_those_of_statsmodels(table, mean, error, variances):
    found = crossed_effects(table)
    assert found.estimate.value == pytest.approx(mean, abs=1e-6)
    assert found.error == pytest.approx(error, abs=2e-6)
    assert (found.texts, found.prompts, found.rest) == pytest.approx(variances, abs=5e-6)
    assert sum(map(found.share, ("texts", "prompts", "rest"))) == pytest.approx(1)
    assert (found.estimate.n, found.n_prompts) == (table.shape[1], table.shape[0])


def test_a_table_by_hand():
    """Texts are ±0.5, prompts ±1 round 2.5, nothing is left.

    MS of texts 1, of prompts 4, of the rest 0, each with df 1. The error is √((1 + 4 − 0) / 4), df
    (1 + 4)² / (1² + 4²); the variances (1 − 0) / 2 and (4 − 0) / 2.
    """
    found = crossed_effects([[1.0, 2.0], [3.0, 4.0]])
    assert found.estimate.value == 2.5
    assert found.error == pytest.approx(1.25**0.5)
    assert found.df == pytest.approx(25 / 17)
    assert (found.texts, found.prompts, found.rest) == pytest.approx((0.5, 2.0, 0.0))
    assert found.p_value == pytest.approx(2 * stats.t.sf(2.5 / 1.25**0.5, 25 / 17))
    low = 2.5 - stats.t.ppf(0.975, 25 / 17) * 1.25**0.5
    assert found.estimate.low == pytest.approx(low)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[1.0, 2.0, 3.0]], "at least two of them"),
        ([[1.0], [2.0]], "at least two texts"),
        ([[1.0, 1.0], [1.0, 1.0]], "values that differ"),
        ([[np.nan, np.nan], [1.0, 2.0]], "there is no value"),
    ],
)
def test_what_cannot_be_told_has_a_reason(table, reason):
    found = crossed_effects(table)
    assert reason in found.estimate.note
    assert np.isnan(found.estimate.low)
    assert np.isnan(found.p_value)


def test_texts_with_a_missing_value_are_left_out():
    table = drawn(8, 4, 0.5, 0.4, 0.3, 0)
    more = np.column_stack([table, [9.0, np.nan, 9.0, 9.0]])
    assert crossed_effects(more) == crossed_effects(table)


def test_p_values_are_uniform_where_texts_and_prompts_vary_and_the_mean_is_zero():
    """200 samples; a t-test over all values, which takes them for independent, finds too much."""
    ours, naive = [], []
    for seed in range(200):
        table = drawn(12, 6, 0.5, 0.5, 0.3, seed) - 0.2
        ours.append(crossed_effects(table).p_value)
        naive.append(stats.ttest_1samp(table.ravel(), 0).pvalue)
    assert stats.kstest(ours, "uniform").pvalue > 0.01
    assert np.mean(np.array(naive) < 0.05) > 0.2
