"""Finding words in sentences, and drawing a fair sample of them."""

from __future__ import annotations

from collections import Counter

import pytest

from probing.measures.occurrences import sample_occurrences

PHRASES = {"elderly": ["elderly person", "elderly people"], "warm": ["warm"], "people": ["people"]}


def find(*sentences: str, per_key: int = 10, seed: int = 0) -> dict[str, list[str]]:
    found = sample_occurrences(sentences, PHRASES, per_key=per_key, seed=seed)
    return {
        key: [o.sentence[o.start : o.end] for o in sample.drawn] for key, sample in found.items()
    }


def test_any_surface_form_counts_whatever_its_case() -> None:
    found = find("The Elderly People are here.", "An elderly person waits.")
    assert found["elderly"] == ["Elderly People", "elderly person"]


def test_only_whole_words_count() -> None:
    assert find("It is warmer than lukewarm.")["warm"] == []
    assert find("Luke-warm, not warm!")["warm"] == ["warm"]


def test_a_word_inside_a_phrase_counts_for_both() -> None:
    found = find("All elderly people are warm.")
    assert (found["elderly"], found["people"]) == (["elderly people"], ["people"])


def test_a_sentence_counts_once() -> None:
    assert find("Warm hands, warm heart.")["warm"] == ["Warm"]


def test_the_sample_is_bounded_counted_and_the_same_for_the_same_seed() -> None:
    sentences = [f"warm number {i}" for i in range(100)]
    found = sample_occurrences(sentences, PHRASES, per_key=5, seed=1)
    assert len(found["warm"].drawn) == 5
    assert found["warm"].n_found == 100
    assert found == sample_occurrences(sentences, PHRASES, per_key=5, seed=1)
    assert found != sample_occurrences(sentences, PHRASES, per_key=5, seed=2)


def test_other_words_do_not_change_a_words_sample() -> None:
    sentences = [f"warm and cold number {i}" for i in range(50)]
    alone = sample_occurrences(sentences, {"warm": ["warm"]}, per_key=5, seed=1)
    both = sample_occurrences(sentences, {"cold": ["cold"], "warm": ["warm"]}, per_key=5, seed=1)
    assert alone["warm"] == both["warm"]


def test_every_sentence_is_drawn_equally_often() -> None:
    """600 draws of 2 out of 6: each expected 200 times, standard deviation √(600 · 1/3 · 2/3)."""
    sentences = [f"warm {i}" for i in range(6)]
    counts: Counter[str] = Counter()
    for seed in range(600):
        drawn = sample_occurrences(sentences, {"warm": ["warm"]}, per_key=2, seed=seed)["warm"]
        counts.update(o.sentence for o in drawn.drawn)
    assert all(abs(count - 200) < 4 * (600 * 2 / 9) ** 0.5 for count in counts.values())


def test_a_spelling_without_a_word_is_refused() -> None:
    with pytest.raises(ValueError, match="holds no word"):
        sample_occurrences([], {"nothing": ["--"]}, per_key=1, seed=0)
