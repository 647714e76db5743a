"""The rule for a typed trait, over the 16 pairs and the lists of Cao et al. (2022), Table A7."""

from __future__ import annotations

import pytest

from annotation.instruments.checks import TypedWord, is_marked
from annotation.instruments.checks.typed_traits import find_poles
from annotation.library.abc_model import TRAIT_PAIRS

NEAR = {"cold-warm": 90, "dishonest-sincere": 12, "poor-wealthy": 50}


def poles() -> list[TypedWord]:
    """Warm at 90, sincere at 12, all others in the middle."""
    found = []
    for pair in TRAIT_PAIRS:
        value = NEAR.get(pair.slug, 50)
        low, high = (pair.low, *pair.low_synonyms), (pair.high, *pair.high_synonyms)
        found += [
            TypedWord(f"{pair.slug}:low", low, 100 - value),
            TypedWord(f"{pair.slug}:high", high, value),
        ]
    return found


def named(answer: str) -> set[str]:
    return {pole.key for pole in find_poles(answer, poles())}


def test_every_word_of_the_page_names_its_own_pole() -> None:
    for pair in TRAIT_PAIRS:
        assert f"{pair.slug}:low" in named(pair.low)
        assert f"{pair.slug}:high" in named(pair.high)
        for word in pair.high_synonyms:
            assert f"{pair.slug}:high" in named(word), word


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        ("Warm", "cold-warm:high"),
        ("very warm", "cold-warm:high"),
        ("wram", ""),  # two of four letters: another word as likely as not
        ("worm", "cold-warm:high"),  # one of four letters
        ("trustworhty", "untrustworthy-trustworthy:high"),
        ("untrustwrthy", "untrustworthy-trustworthy:low"),
        ("high status", "low status-high status:high"),
        ("science oriented", "religious-science-oriented:high"),
        ("confident", "unconfident-confident:high"),
        ("unconfident", "unconfident-confident:low"),
        ("egotistical", "egotistic-altruistic:low"),
        ("", ""),
        ("I do not know", ""),
        ("purple", ""),
    ],
)
def test_spelling_is_forgiven_and_negations_are_not(answer: str, key: str) -> None:
    slugs = {pair.slug for pair in TRAIT_PAIRS}
    wanted = key.replace("low status-high status", "low-status-high-status")
    if wanted:
        assert wanted.rpartition(":")[0] in slugs
        assert wanted in named(answer)
    else:
        assert named(answer) == set()


def test_a_negated_word_never_stands_for_its_opposite() -> None:
    """“friendly” may be a synonym of warm; “unfriendly” is two letters from it, and is not."""
    one = [TypedWord("cold-warm:high", ("warm", "friendly"), 90)]
    assert find_poles("friendly", one) == one
    assert find_poles("frendly", one) == one
    assert find_poles("unfriendly", one) == []


@pytest.mark.parametrize(
    ("answer", "high", "low"),
    [
        ("warm", True, False),
        ("cold", False, True),
        ("dishonest", True, False),
        ("sincere", False, True),
        ("wealthy", False, False),  # in the middle: neither
        ("purple", False, False),
    ],
)
def test_high_is_near_and_low_is_far(answer: str, high: bool, low: bool) -> None:
    limits = {"high_from": 60, "low_to": 40}
    assert is_marked(answer, poles(), high=True, **limits) is high
    assert is_marked(answer, poles(), high=False, **limits) is low
