"""The vocabulary learner, worked out by hand on small corpora."""

from __future__ import annotations

import string

import pytest

from probing.training.demo.model import SPECIAL_TOKENS, learn_word_pieces

#: Special tokens, every ASCII letter, digit and mark, and ## before each letter and digit.
SINGLE = len(SPECIAL_TOKENS) + 62 + len(string.punctuation) + 62


def test_the_most_frequent_pair_is_joined_first() -> None:
    """aab x 3 and ab x 1: (a, ##a) and (##a, ##b) occur 3 times, (a, ##b) once.

    The tie goes to the alphabetically first pair, ('##a', '##b'), then (a, ##ab), then (a, ##b).
    """
    learned = learn_word_pieces(["aab"] * 3 + ["ab"], SINGLE + 3)
    assert learned[SINGLE:] == ["##ab", "aab", "ab"]


def test_learning_stops_when_the_vocabulary_is_full() -> None:
    learned = learn_word_pieces(["aab"] * 3 + ["ab"], SINGLE + 1)
    assert learned[SINGLE:] == ["##ab"]


def test_learning_stops_when_every_word_is_whole() -> None:
    learned = learn_word_pieces(["ab"], SINGLE + 50)
    assert learned[SINGLE:] == ["ab"]


def test_the_order_of_the_words_does_not_matter() -> None:
    words = ["the", "cold", "winter", "was", "a", "cold", "and", "threatening", "winter"]
    assert learn_word_pieces(words, 200) == learn_word_pieces(words[::-1], 200)


def test_special_tokens_come_first_and_nothing_occurs_twice() -> None:
    learned = learn_word_pieces(["ab", "é"], SINGLE + 10)
    assert tuple(learned[:5]) == SPECIAL_TOKENS
    assert len(learned) == len(set(learned))
    assert {"é", "##é"} <= set(learned)


def test_a_vocabulary_that_is_too_small_is_refused() -> None:
    with pytest.raises(ValueError, match="do not fit"):
        learn_word_pieces(["ab"], 50)
