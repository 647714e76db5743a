"""Effects over texts and prompts: against statsmodels, by hand, and in simulated samples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from evaluation.metrics.crossed_effects import (
    LIKE_THESE,
    THESE,
    crossed_difference,
    crossed_effects,
)
from evaluation.metrics.undefined import UndefinedReason


def drawn(n: int, p: int, texts: float, prompts: float, rest: float, seed: int) -> np.ndarray:
    """Return a table of prompts × texts with these standard deviations and a mean of 0.2."""
    rng = np.random.default_rng(seed)
    text, prompt, noise = rng.normal(size=n), rng.normal(size=p), rng.normal(size=(p, n))
    return (0.2 + texts * text + prompts * prompt[:, None] + rest * noise).round(3)


#: statsmodels 0.15.0, MixedLM by REML with variance components for text and prompt in one group:
#: mean, variances of texts, prompts and the rest.
@pytest.mark.parametrize(
    ("table", "mean", "variances"),
    [
        (drawn(8, 4, 0.5, 0.4, 0.3, 0), 0.1180625, (0.118736, 0.079659, 0.062691)),
        (drawn(10, 3, 0.6, 0.0, 0.5, 1), 0.2690333, (0.102713, 0.0, 0.277560)),
        (drawn(12, 5, 0.0, 0.5, 0.4, 2), 0.1811333, (0.025168, 0.050615, 0.146118)),
    ],
)
def test_mean_and_variances_are_those_of_statsmodels(table, mean, variances):
    found = crossed_effects(table)
    assert found.estimate.value == pytest.approx(mean, abs=1e-6)
    assert (found.texts, found.prompts, found.rest) == pytest.approx(variances, abs=5e-6)
    assert sum(map(found.share, ("texts", "prompts", "rest"))) == pytest.approx(1)
    assert (found.estimate.n, found.n_prompts) == (table.shape[1], table.shape[0])


def test_few_prompts_by_hand():
    """Six texts are ±0.5, prompts ±1 round 2.5, nothing is left: the texts' means are 2 and 3.

    These prompts: sd √(6/20), error √0.05, df 5. Variances (0.6 − 0) / 2 and (12 − 0) / 6.
    """
    found = crossed_effects([[1.0, 2.0] * 3, [3.0, 4.0] * 3])
    assert (found.estimate.value, found.question) == (2.5, THESE)
    assert (found.error, found.df) == pytest.approx((0.05**0.5, 5))
    assert (found.texts, found.prompts, found.rest) == pytest.approx((0.3, 2.0, 0.0))
    assert found.p_value == pytest.approx(2 * stats.t.sf(2.5 / 0.05**0.5, 5))
    assert found.estimate.low == pytest.approx(2.5 - stats.t.ppf(0.975, 5) * 0.05**0.5)


def test_six_prompts_by_hand():
    """Six texts are ±0.5, prompts −2.5 to 2.5, nothing is left: M_T 1.8, M_P 21, M_E 0, nP 36.

    Prompts like these: v = 21/36 + 1.8/36, df 22.8² / (21²/5 + 1.8²/5).
    """
    found = crossed_effects([[p - 0.5, p + 0.5] * 3 for p in range(6)])
    assert (found.estimate.value, found.question) == (2.5, LIKE_THESE)
    assert (found.error, found.df) == pytest.approx(
        ((22.8 / 36) ** 0.5, 5 * 22.8**2 / (21**2 + 1.8**2))
    )
    assert found.p_value == pytest.approx(2 * stats.t.sf(2.5 / found.error, found.df))
    reach = stats.t.ppf(0.975, found.df) * found.error
    assert found.estimate.high == pytest.approx(2.5 + reach)
    # Texts alike: their part is none, and the prompts' stays with its own degrees of freedom.
    alike = crossed_effects([[float(p)] * 6 for p in range(6)])
    assert (alike.error, alike.df) == pytest.approx(((3.5 / 6) ** 0.5, 5))


def test_another_mean_keeps_error_and_question():
    """Sets of texts of other sizes weigh alike in a score, so that it is not the mean of all."""
    found = crossed_effects([[1.0, 2.0] * 3, [3.0, 4.0] * 3]).about(0.5)
    assert found.estimate.high - found.estimate.value == pytest.approx(found.reach)
    assert found.p_value == pytest.approx(2 * stats.t.sf(0.5 / 0.05**0.5, 5))


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ([[1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 3.0, 1.0]], "at least five values"),
        ([[1.0] * 5, [1.0] * 5], "values that differ"),
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


@pytest.mark.slow
@pytest.mark.parametrize(("n_prompts", "spread"), [(9, 0.3), (3, 0.0)])
def test_few_samples_without_an_effect_are_called_one(n_prompts, spread):
    """200 samples; a t-test over all values, which takes them for independent, calls too many.

    The mean over three given prompts is their effect: without one, they do not differ.
    """
    ours, naive = [], []
    for seed in range(200):
        table = drawn(30, n_prompts, 0.4, spread, 0.3, seed) - 0.2
        ours.append(crossed_effects(table).p_value)
        naive.append(stats.ttest_1samp(table.ravel(), 0).pvalue)
    assert np.mean(np.array(ours) < 0.05) <= 0.08
    assert np.mean(np.array(naive) < 0.05) > 0.2


def test_a_difference_in_these_prompts_is_welchs_test_of_the_texts_means() -> None:
    """Source: scipy's Welch test and its interval."""
    rng = np.random.default_rng(4)
    first, second = rng.normal(1, 1, (3, 6)), rng.normal(0, 2, (3, 9))
    found = crossed_difference(first, second, level=0.9)
    wanted = stats.ttest_ind(first.mean(axis=0), second.mean(axis=0), equal_var=False)
    limits = wanted.confidence_interval(0.9)
    assert found.question == THESE
    assert (found.estimate.low, found.estimate.high) == pytest.approx((limits.low, limits.high))
    assert found.p_value == pytest.approx(wanted.pvalue)


def test_a_difference_in_prompts_like_these_by_hand() -> None:
    """Every text adds −1 or 1 in all prompts, prompts move the first guise alone, by 0 to 5.

    The prompts' part is 3.5 / 6, each side's texts' part 8/7 / 8 = 1/7, as nothing else varies;
    df = v² / ((3.5/6)² / 5 + 2 · (1/7)² / 7).
    """
    texts = np.array([-1.0, 1.0] * 4)
    first, second = texts + np.arange(6.0)[:, None], np.tile(texts, (6, 1))
    found = crossed_difference(first, second)
    v = 3.5 / 6 + 2 / 7
    df = v**2 / ((3.5 / 6) ** 2 / 5 + 2 * (1 / 7) ** 2 / 7)
    assert (found.estimate.value, found.question) == (2.5, LIKE_THESE)
    reach = stats.t.ppf(0.975, df) * np.sqrt(v)
    assert found.estimate.high == pytest.approx(2.5 + reach)


def test_a_difference_of_few_texts_has_no_interval() -> None:
    found = crossed_difference(np.ones((6, 4)), np.zeros((6, 9)))
    assert (found.estimate.value, found.estimate.n) == (1.0, 4)
    assert found.estimate.interval_reason == UndefinedReason.FEW_FOR_INTERVAL
