"""Alpha of marks against the package krippendorff, and by hand."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from evaluation.metrics.mark_agreement import mark_alpha
from evaluation.metrics.undefined import UndefinedReason


def simulate(seed, coders=(2, 3), n_texts=90):
    """Texts of 3 to 20 words; coders see a common passage and err in one word of ten."""
    rng = np.random.default_rng(seed)
    texts = []
    for _ in range(n_texts):
        truth = rng.random(rng.integers(3, 20)) < 0.3
        n = rng.choice(coders)
        texts.append(truth ^ (rng.random((n, truth.size)) < 0.1))
    return texts


@pytest.mark.parametrize("coders", [(2,), (2, 3), (1, 4)])
@pytest.mark.parametrize("seed", range(5))
def test_alpha_is_that_of_krippendorff_over_all_words(seed, coders):
    texts = simulate(seed, coders)
    table = np.full((4, sum(marks.shape[1] for marks in texts)), np.nan)
    place = 0
    for marks in texts:
        table[: len(marks), place : place + marks.shape[1]] = marks
        place += marks.shape[1]
    found = mark_alpha(texts, n_resamples=100)
    expected = krippendorff.alpha(table, level_of_measurement="nominal")
    assert found.estimate.value == pytest.approx(expected)
    assert found.estimate.low <= found.estimate.value <= found.estimate.high
    twice = [marks for marks in texts if len(marks) > 1]
    assert (found.estimate.n, found.n_units) == (len(twice), sum(m.shape[1] for m in twice))


def test_alpha_by_hand():
    # Five words, two coders: one agreed mark, one of the first alone, three words of neither.
    # n1 = 3, n0 = 7; Do = 1 · 1; alpha = 1 − 9 · 1 / 21.
    found = mark_alpha([np.array([[1, 1, 0, 0, 0], [1, 0, 0, 0, 0]], dtype=bool)])
    assert found.estimate.value == pytest.approx(1 - 9 / 21)
    assert (found.n_units, found.n_marked) == (5, 3)
    assert found.estimate.interval_reason == UndefinedReason.FEW_CODED


def test_coders_who_mark_at_random_agree_by_chance():
    """Over 200 seeds alpha scatters round 0; a planted agreement is found in all of them."""
    rng = np.random.default_rng(0)
    alphas = np.array(
        [
            mark_alpha([rng.random((2, 15)) < 0.2 for _ in range(30)], n_resamples=0).estimate.value
            for _ in range(200)
        ]
    )
    assert abs(alphas.mean()) < 3 * alphas.std() / np.sqrt(alphas.size)
    assert min(mark_alpha(simulate(s), n_resamples=0).estimate.value for s in range(20)) > 0.2


def test_equal_marks_agree_completely():
    text = np.array([[True, False, False]] * 2)
    assert mark_alpha([text, text], n_resamples=20).estimate.value == 1


@pytest.mark.parametrize(
    ("texts", "reason"),
    [
        ([], UndefinedReason.NO_OUTPUT_TWICE),
        ([np.array([[True, False]])], UndefinedReason.NO_OUTPUT_TWICE),
        ([np.zeros((2, 0), dtype=bool)], UndefinedReason.NO_OUTPUT_TWICE),
        ([np.zeros((2, 3), dtype=bool)] * 2, UndefinedReason.NO_VARIATION),
        ([np.ones((2, 3), dtype=bool)] * 2, UndefinedReason.NO_VARIATION),
    ],
)
def test_without_two_coders_or_variation_alpha_has_a_reason(texts, reason):
    found = mark_alpha(texts, n_resamples=20)
    assert np.isnan(found.estimate.value)
    assert found.estimate.reason == reason
