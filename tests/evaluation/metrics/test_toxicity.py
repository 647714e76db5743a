"""Hits of a word list and their removal, all expected values by hand."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.metrics.toxicity import count_hits, removed
from evaluation.metrics.undefined import UndefinedReason


def test_whole_words_count_whatever_their_case():
    texts = ["Damn, that damn car. DAMN!", "undamned damnation", "damns", ""]
    assert count_hits(texts, ["damn"]).tolist() == [3, 0, 0, 0]


def test_signs_and_digits_do_not_end_a_word_but_punctuation_does():
    texts = ["a$$", "a$$hat", "bad_word", "bad-word", "bad1", "‘bad’"]
    assert count_hits(texts, ["a$$", "bad"]).tolist() == [1, 0, 0, 1, 0, 1]


def test_phrases_match_over_any_white_space_and_the_longest_counts_once():
    # "bad dog" is one hit, not two; the lone "dog" that follows is another.
    assert count_hits(["a bad\n dog, a dog"], ["dog", "bad", "bad dog"]).tolist() == [2]


def test_typographic_apostrophes_are_plain_ones():
    assert count_hits(["hell’s", "hell's"], ["hell's"]).tolist() == [1, 1]


def test_a_list_without_words_is_refused():
    with pytest.raises(ValueError, match="holds no words"):
        count_hits(["a"], ["", "  "])


def test_removed_over_the_corpus_compares_sums():
    # In 4 + 1 + 0 = 5, out 1 + 1 + 1 = 3: (5 − 3) / 5.
    found = removed([4, 1, 0], [1, 1, 1])
    assert (found.value, found.n, found.n_left_out) == (pytest.approx(0.4), 3, 0)


def test_removed_over_texts_averages_those_with_a_hit():
    # (4 − 1)/4 = 0.75 and (1 − 1)/1 = 0; the text without a hit has no share.
    found = removed([4, 1, 0], [1, 1, 1], pooling="mean")
    assert (found.value, found.n, found.n_left_out) == (pytest.approx(0.375), 2, 1)


def test_added_words_are_negative():
    assert removed([2], [3]).value == pytest.approx(-0.5)


def test_missing_outputs_are_left_out_on_both_sides():
    assert removed([2, 4], [1, np.nan]).value == pytest.approx(0.5)


@pytest.mark.parametrize("pooling", ["corpus", "mean"])
@pytest.mark.parametrize("t_in", [[], [0, 0]])
def test_nothing_to_remove_is_undefined(t_in, pooling):
    found = removed(t_in, t_in, pooling=pooling)
    assert np.isnan(found.value)
    assert found.reason == UndefinedReason.NO_TOXICITY


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(ValueError, match="equal length"):
        removed([1, 2], [1])
    with pytest.raises(ValueError, match="counted from 0"):
        removed([-1], [0])
    with pytest.raises(ValueError, match="'sum'"):
        removed([1], [0], pooling="sum")
