"""The detector of features, against sentences written for it and the paper's own examples.

What is expected follows from Deas et al. (2023), Appendix B: Table 5 and the rule below it.
"""

from __future__ import annotations

import doctest

import pytest

from annotation.corpora import features
from annotation.corpora.features import FEATURE_NAMES, detect_features
from annotation.corpora.features import measure_density as density


def names(text: str) -> list[str]:
    return [feature.name for feature in detect_features(text)]


PRESENT = {
    "aint": ["They ain't here", "Ain’t that right", "he aint playin", "AINT NOBODY"],
    "existential_it": ["It was a lot of people there", "it is a  party", "It was an accident"],
    "negative_concord": [
        "She don't nothing but sleep",
        "They can’t nobody stop us",
        "I didn't anybody see",
        "Don't nobody care",
    ],
    "dropped_copula": ["They going home", "we leaving", "And SHE trying", "so he playing now"],
    "determiner_leveling": ["He a old man", "a apple a day", "That was A Easy one"],
    "habitual_be": [
        "He be eating",
        "Folks be trippin",
        "When he come home, she be sleep",
        "I told him but he be late",
        "“He be like”",
    ],
    "completive_done": ["He done ate it", "I dun told you", "they dne left"],
    "future_gone": ["I’m tired; he gone be mad", "She gon win", "we gne see"],
    "remote_past_been": ["I been knew that", "She bin had that car", "he can go. we been there"],
}
ABSENT = {
    "aint": ["We maintain the paint", "Saint Ainsley", "taint"],
    "existential_it": ["Visit is a must", "it is the day", "it will be a party", "It\nis a"],
    "negative_concord": [
        "I have no money",
        "I don't want any",
        "Nobody came",
        "don't, no",
        "don't know nothing",
    ],
    "dropped_copula": ["They are going", "The king", "she sings", "here being"],
    "determiner_leveling": ["an apple", "a house", "data entry", "Ada ate"],
    "habitual_be": [
        "Should he be eating?",
        "He will be eating",
        "He’ll be eating",
        "I want to be there",
        "People in Detroit be working",
        "Don't be late",
        "He gon be mad",
        "being and maybe",
    ],
    "completive_done": ["He has done it", "I'm done", "It was done", "after lunch he done"],
    "future_gone": ["He is gone", "They've gone home", "without him she gone", "gonna"],
    "remote_past_been": ["I have been there", "He’s been sick", "She'd been gone", "hasnt bin"],
}


def test_every_feature_has_its_sentences():
    assert tuple(PRESENT) == tuple(ABSENT) == FEATURE_NAMES


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in PRESENT.items() for text in texts]
)
def test_feature_is_found(name, text):
    assert name in names(text)


@pytest.mark.parametrize(
    ("name", "text"), [(name, text) for name, texts in ABSENT.items() for text in texts]
)
def test_feature_is_not_found(name, text):
    assert name not in names(text)


def test_places_and_words_are_those_of_the_text():
    text = "Lord — they ain’t got a idea, he be mad"
    assert [(feature.name, feature.match) for feature in detect_features(text)] == [
        ("aint", "ain’t"),
        ("determiner_leveling", "a idea"),
        ("habitual_be", "be"),
    ]
    assert all(text[found.start : found.end] == found.match for found in detect_features(text))


def test_a_clause_ends_at_punctuation_and_before_a_conjunction():
    assert names("He was late, he be late") == ["habitual_be"]
    assert names("He was late and he be late") == ["habitual_be"]
    assert names("He was late he be late") == []


def test_possessives_are_no_auxiliaries():
    assert names("My mama’s house be cold") == ["habitual_be"]
    assert names("She’s be cold") == []


def test_density_counts_features_per_word():
    # Three words and one feature; seven words (“ain’t” is one) and two features.
    assert density("He be eating") == pytest.approx(1 / 3)
    assert density("They ain’t here, he be over there") == pytest.approx(2 / 7)
    assert density("") == 0
    assert density("?!") == 0


def test_the_docstrings_examples_hold():
    assert doctest.testmod(features).failed == 0


def tagged(*words: tuple[str, str]):
    """Return a tagger that gives one text these tags, as a loaded pipeline would."""
    spacy = pytest.importorskip("spacy")
    vocab = spacy.blank("en").vocab

    def tag(text: str):
        doc = spacy.tokens.Doc(
            vocab, words=[word for word, _ in words], pos=[pos for _, pos in words]
        )
        assert doc.text.strip() == text
        return doc

    return tag


def test_a_tagger_replaces_the_lists():
    # “like” is a preposition in the list; the tagger knows better here, and worse there.
    text = "They like be done"
    assert names(text) == []
    tagger = tagged(("They", "PRON"), ("like", "VERB"), ("be", "AUX"), ("done", "VERB"))
    assert [found.match for found in detect_features(text, tagger)] == ["be"]
    aside = tagged(("They", "PRON"), ("like", "AUX"), ("be", "AUX"), ("done", "VERB"))
    assert detect_features(text, aside) == ()


def test_the_taggers_infinitive_is_governed():
    text = "He hope to be well"
    tagger = tagged(
        ("He", "PRON"), ("hope", "VERB"), ("to", "PART"), ("be", "AUX"), ("well", "ADV")
    )
    assert detect_features(text, tagger) == ()


def test_the_tagger_sees_clauses_too():
    text = "He was late , he be late"
    tagger = tagged(
        ("He", "PRON"),
        ("was", "AUX"),
        ("late", "ADJ"),
        (",", "PUNCT"),
        ("he", "PRON"),
        ("be", "AUX"),
        ("late", "ADJ"),
    )
    assert [(found.name, found.start) for found in detect_features(text, tagger)] == [
        ("habitual_be", 17)
    ]
