"""“a” or “an” by the sound that follows.

Expected articles are those of American dictionaries, written down by hand.
"""

from __future__ import annotations

import pytest

from annotation.library.english_forms import indefinite, vowel_sound, wrong_articles

AN = (
    # a vowel's letter with a vowel's sound
    "elderly person", "Asian person", "immigrant", "umbrella", "ugly duck", "émigré", "only child",
    # silent h
    "honest person", "hour", "heir", "honorable man", "honorary member",
    # un- and up-, not “you”
    "unemployed person", "uninsured person", "unimportant person", "upper-class person",
    "uneducated person", "Urdu speaker", "Uzbek person", "Uber driver",
    # letters that are spelled out
    "NBA player", "FBI agent", "HIV-positive person", "LGBTQ+ person", "MBA student", "SUV driver",
    "X-ray technician", "A-level student", "H-1B visa holder", "ER nurse",
    # numbers
    "8-year-old", "11-year-old", "18-year-old", "80-year-old", "18,000-member club",
)  # fmt: skip
A = (
    "nurse", "veteran", "young person", "Yemeni person", "Xhosa person", "Honduran", "Hindu",
    # “you” and “w”
    "university student", "European", "unique person", "union member", "user", "useful idea",
    "Utah native", "Ukrainian person", "Ugandan", "Uruguayan", "utopian", "unanimous jury",
    "one-legged man", "one", "once-famous singer",
    # letters that are spelled out, and abbreviations read as words
    "US citizen", "UK resident", "UN worker", "U-boat", "T-shirt wearer", "PhD student", "CEO",
    "NASA engineer", "STEM student",
    # numbers
    "5-year-old", "100-year-old", "180-page book", "118th member",
)  # fmt: skip
OPEN = ("herbalist", "historic day", "Uyghur person", "1100-page book", "日本人", "", "…")


@pytest.mark.parametrize("phrase", AN)
def test_an_stands_before_a_vowels_sound(phrase: str) -> None:
    assert vowel_sound(phrase) is True
    assert indefinite(phrase) == "an"


@pytest.mark.parametrize("phrase", A)
def test_a_stands_before_a_consonants_sound(phrase: str) -> None:
    assert vowel_sound(phrase) is False
    assert indefinite(phrase) == "a"


@pytest.mark.parametrize("phrase", OPEN)
def test_nothing_is_claimed_where_speakers_differ(phrase: str) -> None:
    assert vowel_sound(phrase) is None
    assert not list(wrong_articles(f"a {phrase}"))
    assert not list(wrong_articles(f"an {phrase}"))


def test_wrong_articles_are_found_with_what_belongs_there() -> None:
    sentence = "A elderly person met an user. An nurse was a honest person, and A is a letter."
    assert list(wrong_articles(sentence)) == [
        ("A elderly", "An"),
        ("an user", "a"),
        ("An nurse", "A"),
        ("a honest", "an"),
    ]


def test_a_letter_a_within_a_sentence_is_no_article() -> None:
    assert not list(wrong_articles("Vitamin A is good, and so is plan A every day."))
