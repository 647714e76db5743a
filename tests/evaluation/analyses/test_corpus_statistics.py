"""Tables 2 and 3 of Deas et al. (2023) for small corpora whose numbers can be counted by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from annotation.corpora.features import split_words
from evaluation.analyses.corpus_statistics import CorpusOptions, PairTexts, describe_pairs
from evaluation.metrics.type_token import type_token_ratio, wilson_interval
from evaluation.metrics.undefined import UndefinedReason

PAIRS = [
    PairTexts("He be late", "He is usually late", "CORAAL"),
    PairTexts("They ain’t here", "They are not here", "CORAAL"),
    PairTexts("Dang, she gone", "She is gone", "Lyrics"),
]


def test_the_rows_of_table_2_by_hand():
    found = describe_pairs(PAIRS, words=["dang"], options=CorpusOptions(n_resamples=200))
    assert [(row.origin, row.n) for row in found.rows] == [("CORAAL", 2), ("Lyrics", 1)]
    coraal, lyrics = found.rows
    assert (coraal.source_length.value, coraal.target_length.value) == (3, 4)
    # Rouge-1 F = 2 · overlap / (words + words). “he … late”: 2 · 2/7. Rouge cuts “ain’t” in two:
    # they, ain, t, here against they, are, not, here: 2 · 2/8.
    assert coraal.rouge1.value == pytest.approx(100 * (4 / 7 + 4 / 8) / 2)
    assert lyrics.rouge1.value == pytest.approx(100 * 4 / 6)
    assert found.total.origin is None
    assert found.total.n == 3
    assert found.total.rouge1.value == pytest.approx(100 * (4 / 7 + 4 / 8 + 4 / 6) / 3)
    assert found.total.target_length.value == pytest.approx(11 / 3)
    assert (lyrics.source_toxicity.value, lyrics.target_toxicity.value) == (1, 0)
    assert found.total.source_toxicity.value == pytest.approx(1 / 3)
    assert found.total.rouge1.interval_reason == UndefinedReason.FEW_RESAMPLED


def test_table_3_by_hand():
    found = describe_pairs(PAIRS)
    # Sources: he be late they ain't here dang she gone, nine words, nine types. Targets: he is
    # usually late they are not here she is gone, eleven words, “is” twice.
    assert (found.source_types.n_types, found.source_types.n_tokens) == (9, 9)
    assert (found.target_types.n_types, found.target_types.n_tokens) == (10, 11)
    assert found.target_types.value == pytest.approx(10 / 11)
    # Differences −1, −1, 0: mean −2/3; four of eight signs give a mean as far from 0.
    difference = found.length_difference
    assert difference.difference == pytest.approx(-2 / 3)
    assert difference.p_value == 0.5
    assert math.isnan(difference.low)


@pytest.mark.parametrize(
    ("n", "printed"), [(5632, (0.274, 0.259, 0.290)), (5665, (0.260, 0.245, 0.275))]
)
def test_the_papers_table_3_prints_intervals_of_99_percent(n, printed):
    """It announces 95 %. The number of types is not printed: the one that rounds to the ratio."""
    tokens = [f"w{number % round(printed[0] * n)}" for number in range(n)]
    p = type_token_ratio(tokens).value
    assert (p, *wilson_interval(p, n, level=0.99)) == pytest.approx(printed, abs=0.0006)
    low, high = wilson_interval(p, n)
    # The formula of Wilson (1927) by hand, z = 1.959964.
    z = 1.959964
    center = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    assert (low, high) == pytest.approx((center - half, center + half), abs=1e-7)
    assert low > printed[1] + 0.002
    assert high < printed[2] - 0.002


def test_the_papers_difference_of_lengths_follows_from_its_totals():
    # 5,632 and 5,665 words in 346 pairs: “less than 1/10th of a word (0.095)”.
    lengths = np.zeros(346, dtype=int) + 16
    source, target = lengths.copy(), lengths.copy()
    source[: 5632 - 16 * 346] += 1
    target[: 5665 - 16 * 346] += 1
    pairs = [PairTexts("a " * s, "b " * t) for s, t in zip(source, target, strict=True)]
    found = describe_pairs(pairs, options=CorpusOptions(n_resamples=0))
    assert (found.source_types.n_tokens, found.target_types.n_tokens) == (5632, 5665)
    assert found.length_difference.difference == pytest.approx(-0.095, abs=0.0005)


def test_without_a_word_list_toxicity_is_undefined_with_its_reason():
    total = describe_pairs(PAIRS).total
    assert math.isnan(total.source_toxicity.value)
    assert total.source_toxicity.reason == UndefinedReason.NOT_REQUESTED


def test_one_pair_has_no_interval():
    (row,) = describe_pairs(PAIRS[:1]).rows
    assert row.source_length.value == 3
    assert math.isnan(row.source_length.low)
    assert row.source_length.interval_reason == UndefinedReason.ONE_TEXT


def test_seed_and_level_decide_the_intervals():
    pairs = [PairTexts("a " * (number % 7 + 1), "b") for number in range(40)]
    first, again = (describe_pairs(pairs).total.source_length for _ in range(2))
    assert first == again
    other = describe_pairs(pairs, options=CorpusOptions(seed=1)).total.source_length
    assert (other.low, other.high) != (first.low, first.high)
    wide = describe_pairs(pairs, options=CorpusOptions(level=0.99)).total.source_length
    assert wide.low < first.low < first.high < wide.high


def test_what_cannot_be_described_is_said():
    with pytest.raises(ValueError, match="no pairs"):
        describe_pairs([])
    with pytest.raises(ValueError, match="holds no words"):
        describe_pairs(PAIRS, words=[])


def test_words_are_runs_with_their_apostrophes():
    assert split_words("Mother-in-law’s, 3-yr ‘old’ — ain't_it? #x") == [
        "mother-in-law's",
        "3-yr",
        "old",
        "ain't",
        "it",
        "x",
    ]
