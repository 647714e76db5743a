"""Agreement of free texts: blocks, subsets, intervals and degenerate data.

Expected values come from plain double loops over an edit distance written here, after the
definitions, or from a derivation by hand.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluation.metrics.levenshtein_alpha import (
    levenshtein_alpha,
    levenshtein_alphas,
    simulate_shuffled_distance,
)
from evaluation.metrics.text_distance import EncodedTexts
from evaluation.metrics.undefined import UndefinedReason

WORDS = ["he", "she", "they", "be", "been", "is", "was", "workin", "working", "late", "home", "now"]


def edit_distance(a, b):
    """Wagner and Fischer (1974), the textbook's table."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (x != y))
    return row[-1]


def exact_alpha(rows):
    """The default definition, pair by pair; rows of (item, annotator, text)."""
    same, different = [], []
    for (item, _, text), (other_item, _, other) in combinations(rows, 2):
        (same if item == other_item else different).append(edit_distance(text, other))
    return 1 - np.mean(same) / np.mean(different)


def simulated(n_items, annotators=3, seed=5, missing=0.3):
    rng = np.random.default_rng(seed)
    rows = []
    for item in range(n_items):
        base = list(rng.choice(WORDS, size=rng.integers(3, 9)))
        for annotator in range(annotators):
            if rng.random() < missing:
                continue
            text = list(base)
            text[rng.integers(len(text))] = str(rng.choice(WORDS))
            rows.append((item, annotator, " ".join(text)))
    return rows


annotations = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 3), st.text("ab ", max_size=5)),
    unique_by=lambda row: row[:2],
    min_size=2,
    max_size=14,
)


@settings(max_examples=80, deadline=None)
@given(annotations)
def test_exact_equals_the_plain_double_loop(rows):
    found = levenshtein_alpha(*zip(*rows, strict=True), n_resamples=0)
    if not found.reason:
        assert found.value == pytest.approx(exact_alpha(rows), abs=1e-12)


@pytest.mark.parametrize("distance", ["characters", "words", "normalized"])
def test_sums_do_not_depend_on_the_size_of_blocks(distance):
    texts = [text for _, _, text in simulated(15)]
    weights = np.random.default_rng(0).integers(0, 5, size=(len(texts), 2)).astype(float)
    encoded = EncodedTexts(texts, distance)
    whole = encoded.sums(weights)
    for block in (1, 4, 7, len(texts)):
        np.testing.assert_allclose(encoded.sums(weights, block=block), whole, rtol=1e-12)
    some = np.arange(9)
    for block in (2, 4):
        for found, expected in zip(
            encoded.cross_sums(some, some[::-1], block=block),
            encoded.cross_sums(some, some[::-1]),
            strict=True,
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_sums_are_right_on_either_side_of_a_machine_word():
    rng = np.random.default_rng(4)
    texts = ["".join(rng.choice(list("abc"), size=n)) for n in (5, 63, 64, 65, 128, 129, 64, 70)]
    matrix = np.array([[edit_distance(a, b) for b in texts] for a in texts], dtype=float)
    weights = rng.integers(0, 4, size=(len(texts), 3)).astype(float)
    encoded = EncodedTexts(texts, "characters")
    for block in (3, len(texts)):
        np.testing.assert_array_equal(encoded.sums(weights, block=block), matrix @ weights)
    rows, columns = encoded.cross_sums(np.arange(5), np.arange(2, 8), block=2)
    np.testing.assert_array_equal(rows, matrix[:5, 2:].sum(axis=1))
    np.testing.assert_array_equal(columns, matrix[:5, 2:].sum(axis=0))


@pytest.mark.parametrize("expected", ["exact", "shuffle", "krippendorff"])
def test_a_subset_has_the_alpha_of_its_annotations_alone(expected):
    rows = simulated(120)
    subsets = [
        np.array([annotator in pair for _, annotator, _ in rows])
        for pair in combinations(range(3), 2)
    ]
    together = levenshtein_alphas(
        *zip(*rows, strict=True), subsets, expected=expected, n_resamples=50
    )
    for subset, found in zip(subsets, together, strict=True):
        alone = [row for row, member in zip(rows, subset, strict=True) if member]
        single = levenshtein_alpha(*zip(*alone, strict=True), expected=expected, n_resamples=50)
        for name in ("value", "low", "high", "observed", "expected"):
            assert getattr(found, name) == pytest.approx(getattr(single, name), abs=1e-12)
        assert (found.n_items, found.n_overlap) == (single.n_items, single.n_overlap)


def test_the_interval_is_close_to_that_of_full_resamples():
    """Full resamples recompute D_e over all pairs of different items drawn, by matrix."""
    rows = simulated(60, missing=0.2)
    found = levenshtein_alpha(*zip(*rows, strict=True), n_resamples=4000, seed=1)
    items = np.array([item for item, _, _ in rows])
    texts = [text for _, _, text in rows]
    matrix = np.array([[edit_distance(a, b) for b in texts] for a in texts], dtype=float)
    member = (items == np.unique(items)[:, None]).astype(float)
    sums, m = member @ matrix @ member.T, member.sum(axis=1)
    within, pairs = np.diag(sums) / 2, m * (m - 1) / 2
    between, counts = sums - np.diag(np.diag(sums)), np.outer(m, m) - np.diag(m * m)
    rng = np.random.default_rng(2)
    n = len(m)
    w = rng.multinomial(n, np.full(n, 1 / n), size=4000).astype(float)
    d_e = np.einsum("bi,ij,bj->b", w, between, w) / np.einsum("bi,ij,bj->b", w, counts, w)
    full = 1 - (w @ within) / (w @ pairs) / d_e
    low, high = np.quantile(full, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.015)
    assert found.low < found.value < found.high


def test_the_mean_of_simulated_shuffles_is_their_expectation():
    rows = simulated(20)
    columns = list(zip(*rows, strict=True))
    exact = levenshtein_alpha(*columns, expected="shuffle", n_resamples=0)
    found = simulate_shuffled_distance(*columns, n=500, seed=3)
    assert abs(found.mean - exact.expected) < 4 * found.standard_error


def test_the_same_seed_gives_the_same_interval():
    columns = list(zip(*simulated(10), strict=True))
    first, second = (levenshtein_alpha(*columns, seed=9) for _ in range(2))
    assert (first.low, first.high) == (second.low, second.high)
    assert levenshtein_alpha(*columns, seed=10).low != first.low


def test_words_are_what_white_space_parts():
    # Items: "a b" and "a c"; "x y z" and "x y z". Words: D_o = (1 + 0)/2; each of the four
    # cross pairs is 3 apart, so alpha = 1 − 0.5/3.
    found = levenshtein_alpha(
        [0, 0, 1, 1],
        "pqpq",
        ["a b", "a  c", "x y z", "x\ty z"],
        distance="words",
        n_resamples=0,
    )
    assert found.value == pytest.approx(1 - 0.5 / 3)


def test_two_empty_texts_are_no_distance_apart():
    found = levenshtein_alpha([0, 0, 1], "pqp", ["", "", "ab"], distance="normalized")
    assert (found.observed, found.expected, found.value) == (0, 1, 1)


@pytest.mark.parametrize("expected", ["exact", "shuffle", "krippendorff"])
def test_equal_annotations_everywhere_are_undefined_not_perfect(expected):
    found = levenshtein_alpha([0, 0, 1, 1], "pqpq", ["same"] * 4, expected=expected)
    assert np.isnan(found.value)
    assert found.reason == UndefinedReason.NO_VARIATION
    assert np.isnan(found.low)


def test_without_overlap_there_is_no_agreement():
    found = levenshtein_alpha([0, 1, 2], "pqp", ["a", "b", "c"])
    assert (found.reason, found.n_pairs) == (UndefinedReason.NO_TEXT_TWICE, 0)
    assert (
        simulate_shuffled_distance([0, 1], "pq", ["a", "b"]).reason == UndefinedReason.NO_TEXT_TWICE
    )


def test_one_item_has_no_chance_agreement():
    assert levenshtein_alpha([0, 0], "pq", ["a", "b"]).reason == UndefinedReason.ONE_ITEM


def test_no_annotations_at_all():
    assert levenshtein_alpha([], [], []).reason == UndefinedReason.NO_TEXT_TWICE


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="annotated an item twice"):
        levenshtein_alpha([0, 0], "pp", ["a", "b"])
    with pytest.raises(ValueError, match="2, 1 and 2"):
        levenshtein_alpha([0, 0], "p", ["a", "b"])
    with pytest.raises(ValueError, match="expected is 'chance'"):
        levenshtein_alpha([0], "p", ["a"], expected="chance")
    with pytest.raises(ValueError, match="distance is 'bytes'"):
        levenshtein_alpha([0], "p", ["a"], distance="bytes")
