"""Which words are hidden: lengths, places, phrases."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from probing.measures.span_prediction import (
    admissible,
    draw_length,
    draw_phrase,
    draw_random_span,
    hide,
    word_offsets,
)

TEXTS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=80)


@given(TEXTS, st.integers(0, 2**31), st.floats(0.1, 20))
def test_a_random_span_is_whole_words_with_context_left(text: str, seed: int, mean: float) -> None:
    span = draw_random_span(text, mean=mean, rng=np.random.default_rng(seed))
    words = word_offsets(text)
    if len(words) < 2:
        assert span is None
        return
    assert span is not None
    assert span[0] in {start for start, _ in words}
    assert span[1] in {end for _, end in words}
    context = hide(text, span)
    assert context.before + context.span + context.after == text
    assert context.span == context.span.strip()
    assert (context.before + context.after).strip()


def test_lengths_follow_a_zero_truncated_poisson_distribution() -> None:
    """P(k) = e^-2 2^k / k! / (1 - e^-2) for k >= 1 (Deas et al. 2023 §4, zero drawn again)."""
    rng = np.random.default_rng(20231)
    n = 20_000
    found = Counter(draw_length(1000, mean=2.0, rng=rng) for _ in range(n))
    mass = [math.exp(-2) * 2**k / math.factorial(k) / (1 - math.exp(-2)) for k in range(1, 8)]
    expected = [*(n * p for p in mass), n * (1 - sum(mass))]
    observed = [*(found[k] for k in range(1, 8)), sum(found[k] for k in found if k > 7)]
    assert found[0] == 0
    assert sum(observed) == n
    assert stats.chisquare(observed, expected).pvalue > 0.01


def test_lengths_are_capped_at_one_word_less_than_the_text() -> None:
    rng = np.random.default_rng(3)
    assert {draw_length(2, mean=30.0, rng=rng) for _ in range(50)} == {1}
    assert {draw_length(4, mean=30.0, rng=rng) for _ in range(50)} == {3}
    with pytest.raises(ValueError, match="a text of 1 words"):
        draw_length(1, mean=2.0, rng=rng)


def test_the_start_is_uniform_over_the_places_where_a_span_fits() -> None:
    """Spans of one word (near a mean of 0 hardly any is longer) in ten words: ten places."""
    text = "a b c d e f g h i j"
    rng = np.random.default_rng(5)
    starts = Counter()
    while starts.total() < 5000:
        span = draw_random_span(text, mean=0.01, rng=rng)
        assert span is not None
        if span[1] == span[0] + 1:  # one word: all but one in two hundred
            starts[span[0]] += 1
    assert sorted(starts) == list(range(0, 20, 2))
    assert stats.chisquare(list(starts.values())).pvalue > 0.01


def test_a_long_span_starts_at_either_of_its_two_places() -> None:
    rng = np.random.default_rng(6)
    starts = [draw_random_span("a b c", mean=50.0, rng=rng) for _ in range(400)]
    assert set(starts) == {(0, 3), (2, 5)}
    # Binomial(400, 1/2): 200 with a standard deviation of 10.
    assert abs(starts.count((0, 3)) - 200) < 40


def test_phrases_lose_the_white_space_at_their_ends_and_leave_context() -> None:
    text = "  the old man  sleeps "
    assert admissible(text, [(0, 15), (2, 13), (15, 22), (0, 22), (1, 2)]) == [(2, 13), (15, 21)]


def test_every_phrase_is_drawn_and_none_where_there_is_none() -> None:
    rng = np.random.default_rng(7)
    text = "the man sees the dog"
    drawn = Counter(draw_phrase(text, [(0, 7), (13, 20)], rng=rng) for _ in range(400))
    assert set(drawn) == {(0, 7), (13, 20)}
    assert abs(drawn[0, 7] - 200) < 40
    assert draw_phrase(text, [], rng=rng) is None
    assert draw_phrase(text, [(0, 20)], rng=rng) is None
