"""Precision at k by hand, on ties and gaps, and within its bounds."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics import UndefinedReason, precision_at_k, precision_at_k_batch


def test_precision_at_three_by_hand():
    # Highest scores 9 8 7 have means 60 40 70: two of three above 50.
    # Lowest scores 1 2 3 have means 30 20 90: two of three below 50.
    found = precision_at_k([9, 8, 7, 1, 2, 3], [60, 40, 70, 30, 20, 90])
    assert (found.top, found.bottom, found.mean) == pytest.approx((2 / 3, 2 / 3, 2 / 3))


def test_a_mean_of_exactly_fifty_counts_for_neither_end():
    found = precision_at_k([3, 2, 1], [50, 50, 50])
    assert (found.top, found.bottom) == (0, 0)


def test_ties_in_the_score_keep_the_order_of_the_scales_at_both_ends():
    # All scores equal: the first three scales are both the top and the bottom three.
    found = precision_at_k([0, 0, 0, 0, 0], [90, 90, 10, 10, 10])
    assert (found.top, found.bottom) == pytest.approx((2 / 3, 1 / 3))


def test_scales_without_score_or_mean_are_no_candidates():
    found = precision_at_k([np.nan, 9, 8, 7, 6], [99, np.nan, 60, 60, 10])
    assert (found.top, found.bottom, found.n) == pytest.approx((2 / 3, 1 / 3, 3))


def test_fewer_scales_than_places_is_nan_with_a_reason():
    found = precision_at_k([1, 2], [10, 90])
    assert math.isnan(found.mean)
    assert found.reason == UndefinedReason.FEWER_THAN_K


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="k is 0"):
        precision_at_k([1, 2, 3], [1, 2, 3], k=0)
    with pytest.raises(ValueError, match="equal length"):
        precision_at_k([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="do not fit"):
        precision_at_k_batch([1, 2, 3], [1, 2, 3])
    with pytest.raises(ValueError, match="weights have shape"):
        precision_at_k_batch([1, 2, 3], [[1, 2, 3]], [[1]])


def test_weights_stand_for_repeated_scales():
    # Drawn: scale 0 twice, scale 2 once, scale 3 twice. Top three: 0 0 2 → means 60 60 20 → 2/3;
    # bottom three: 3 3 2 → means 80 80 20 → 1/3.
    found = precision_at_k_batch([4, 3, 2, 1], [[60, 10, 20, 80]], [[2, 0, 1, 2]])
    assert (found.top[0], found.bottom[0]) == pytest.approx((2 / 3, 1 / 3))


def test_weighted_batch_equals_the_repeated_lists():
    rng = np.random.default_rng(4)
    scores, means = rng.integers(0, 4, 9), rng.uniform(0, 100, (25, 9))
    counts = rng.multinomial(9, np.full(9, 1 / 9), size=25)
    batch = precision_at_k_batch(scores, means, counts)
    for i, c in enumerate(counts):
        alone = precision_at_k(np.repeat(scores, c), np.repeat(means[i], c))
        assert batch.mean[i] == pytest.approx(alone.mean)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(-3, 3), st.floats(0, 100, allow_nan=False)), min_size=3, max_size=20
    ),
    st.integers(1, 3),
)
def test_precision_is_a_share(pairs, k):
    scores, means = zip(*pairs, strict=True)
    found = precision_at_k(scores, means, k=k)
    assert 0 <= found.top <= 1
    assert 0 <= found.bottom <= 1
    assert found.mean == pytest.approx((found.top + found.bottom) / 2)


@settings(max_examples=40, deadline=None)
@given(st.permutations(range(8)), st.lists(st.integers(0, 100), min_size=8, max_size=8))
def test_turning_all_scales_round_exchanges_the_ends(scores, means):
    forward = precision_at_k(scores, means)
    turned = precision_at_k([-s for s in scores], [100 - m for m in means])
    assert (turned.top, turned.bottom) == (forward.bottom, forward.top)
