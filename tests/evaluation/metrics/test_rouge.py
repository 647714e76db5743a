"""Rouge against the package rouge-score, text by text, and what it does with odd texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rouge_score.rouge_scorer import RougeScorer

from evaluation.metrics.rouge import cut_words, rouge_scores

KINDS = ("rouge1", "rouge2", "rouge3", "rougeL")

# Few words, so that texts overlap and repeat; a tail of arbitrary characters.
words = st.sampled_from(
    ["he", "be", "runnin", "running", "runs", "ain't", "don’t", "the", "THE", "café", "x2", "İ"]
)
texts = st.one_of(
    st.lists(words, max_size=12).map(" ".join),
    st.text(max_size=30),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=6), st.booleans())
def test_equal_to_rouge_score_to_the_last_digit(pairs, stemming):
    library = RougeScorer(list(KINDS), use_stemmer=stemming)
    found = rouge_scores(
        [candidate for candidate, _ in pairs],
        [reference for _, reference in pairs],
        stemming=stemming,
        kinds=KINDS,
    )
    for i, (candidate, reference) in enumerate(pairs):
        expected = library.score(reference, candidate)
        for kind in KINDS:
            mine = (found[kind].precision[i], found[kind].recall[i], found[kind].f[i])
            if not reference.isascii() and not expected[kind].recall and np.isnan(mine[1]):
                continue  # undefined here, 0 in the package: see the next tests
            assert mine == tuple(expected[kind]), (kind, candidate, reference)


ALIKE = [
    "мы тут всегда сидим",
    "πάντα καθόμαστε εδώ",
    "हम यहाँ बैठते हैं",
    "نحن نجلس هنا دائما",
    "我们总是坐在这里",
    "เรานั่งที่นี่",
    "🙂 👍🏾👍🏾 👩‍🚀",
    "don’t naïve",
]


@pytest.mark.parametrize("text", ALIKE)
def test_texts_of_every_script_are_like_themselves(text):
    for scores in rouge_scores([text], [text], tokens="unicode").values():
        assert scores.f.tolist() == [1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("He ain’t HERE_now", ["he", "ain", "t", "here", "now"]),
        ("cafe\u0301 caf\u00e9", ["café", "café"]),
        ("यहाँ हैं", ["यहाँ", "हैं"]),
        ("be\u200ben 🙂👍🏾!", ["been", "🙂", "👍🏾"]),
        ("我们ok。", ["我", "们", "ok"]),
    ],
)
def test_words_in_unicode(text, words):
    assert list(cut_words(text, "unicode")) == words


@given(st.text(st.characters(max_codepoint=127), max_size=40))
def test_texts_in_ascii_have_the_same_words_either_way(text):
    assert cut_words(text, "unicode") == cut_words(text, "ascii")


@pytest.mark.parametrize(
    ("reference", "tokens"), [("мы тут", "ascii"), ("🙂🙂", "ascii"), ("…", "unicode")]
)
def test_a_text_whose_words_are_not_seen_is_undefined_and_never_zero(reference, tokens):
    for scores in rouge_scores([reference], [reference], tokens=tokens).values():
        assert np.isnan(scores.f).all()


def test_by_hand():
    # Candidate a b c, reference a c d e. Words in common: a, c. P = 2/3, R = 2/4,
    # F = 2 · (2/3) · (1/2) / (7/6) = 4/7. No bigram in common. LCS = a c, as many as the words.
    found = rouge_scores(["a b c"], ["a c d e"])
    assert found["rouge1"].precision == pytest.approx([2 / 3])
    assert found["rouge1"].recall == pytest.approx([1 / 2])
    assert found["rouge1"].f == pytest.approx([4 / 7])
    assert found["rouge2"].f == pytest.approx([0])
    assert found["rougeL"].f == pytest.approx([4 / 7])


def test_a_text_without_words_scores_zero():
    found = rouge_scores(["", "?!", "a"], ["a", "", "..."])
    for scores in found.values():
        np.testing.assert_array_equal(scores.f, [0, 0, 0])


def test_no_texts_give_empty_scores():
    assert rouge_scores([], [])["rougeL"].f.shape == (0,)


def test_lists_of_unequal_length_are_refused():
    with pytest.raises(ValueError, match="2 candidates and 1 references"):
        rouge_scores(["a", "b"], ["a"])


@pytest.mark.parametrize("kind", ["rouge0", "rouge10", "rougeLsum", "bleu"])
def test_unknown_kinds_are_refused(kind):
    with pytest.raises(ValueError, match=f"'{kind}' is no kind of Rouge"):
        rouge_scores(["a"], ["a"], kinds=[kind])
