"""Type-token ratios by hand."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.metrics.type_token import type_token_ratio, wilson_interval
from evaluation.metrics.undefined import UndefinedReason


def test_ratio_by_hand():
    found = type_token_ratio(["he", "be", "working", "he", "be", "late"])
    assert (found.value, found.n_types, found.n_tokens) == (pytest.approx(4 / 6), 4, 6)


def test_wilson_at_the_ends_stays_within_them():
    # p = 0: center = half = (z²/2n)/(1 + z²/n), so low = 0 and high = z²/(n + z²).
    z2 = 1.959963984540054**2
    assert wilson_interval(0, 10) == pytest.approx((0, z2 / (10 + z2)))
    assert wilson_interval(1, 10) == pytest.approx((10 / (10 + z2), 1))


def test_no_words_have_no_ratio():
    found = type_token_ratio([])
    assert np.isnan(found.value)
    assert found.reason == UndefinedReason.NO_WORDS


def test_impossible_shares_are_refused():
    with pytest.raises(ValueError, match="from 0 to 1"):
        wilson_interval(1.2, 5)
    with pytest.raises(ValueError, match="from 1"):
        wilson_interval(0.5, 0)
