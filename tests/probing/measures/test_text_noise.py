"""Noise in texts: what is kept, how much changes, and that the seed decides."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from probing.measures.text_noise import add_noise

TEXT = "he is usually cooking dinner, at 8 with 2 friends!"


@given(st.text(min_size=1, max_size=40), st.floats(0.01, 1.0), st.integers(0, 5))
def test_words_stay_words_and_something_changes(text: str, rate: float, seed: int) -> None:
    noisy = add_noise(text, rate, np.random.default_rng(seed))
    assert len(noisy.split()) == len(text.split())
    assert (noisy != text) == any(character.isalnum() for character in text)


def test_the_share_of_changed_letters_is_the_rate() -> None:
    """Replacements alone keep the length: a third of 20 % of 3,900 letters, and as many drops."""
    text = "abcdefghijklmnopqrstuvwxyz " * 150
    noisy = add_noise(text, 0.2, np.random.default_rng(0))
    assert len(noisy) == pytest.approx(len(text), abs=150)
    drawn = [add_noise("a" * 50, 0.2, np.random.default_rng(seed)) for seed in range(200)]
    # Of 50 letters 10 change; two thirds of these put another letter there.
    others = np.mean([sum(letter != "a" for letter in one) for one in drawn])
    assert others == pytest.approx(50 * 0.2 * 2 / 3, abs=0.6)


def test_the_same_stream_gives_the_same_noise() -> None:
    first, again, other = (add_noise(TEXT, 0.3, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_a_rate_outside_is_refused() -> None:
    with pytest.raises(ValueError, match="the rate is 0"):
        add_noise(TEXT, 0, np.random.default_rng(0))
