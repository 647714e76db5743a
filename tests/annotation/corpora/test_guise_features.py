"""The eight features of Hofmann et al. (2024), in sentences written for the test, and pair sets."""

from __future__ import annotations

import csv
import doctest

import pytest
from django.core.management import CommandError, call_command

from annotation.corpora import guise_features
from annotation.corpora.guise_features import GUISE_FEATURES, detect_guise_features, feature_pairs

PRESENT = {
    "habitual_be": ["he be talking", "People be trippin"],
    "finna": ["I'm finna go", "He fitna leave", "they fixin to eat"],
    "been": ["I been knew that", "she been working here"],
    "zero_copula": [
        "she tired",
        "they always working",
        "he in the house",
        "we a family",
        "my brother workin downtown",
        "That's why she mad",
    ],
    "aint": ["he ain't here", "They aint do it"],
    "in": ["he is workin late", "somethin' is wrong", "we were goin home", "cookin’ dinner"],
    "stay": ["he stay working", "They stay complainin"],
    "zero_s": ["he walk to school", "She always talk about it", "it make sense", "he don't know"],
}
ABSENT = {
    "habitual_be": ["he will be talking", "to be here"],
    "finna": ["the finale", "Fina is here"],
    "been": ["she has been working", "they'd been there"],
    "zero_copula": [
        "she is tired",
        "the man working here is tired",
        "I saw him running",
        "he sings",
        "they begin",
        "they like nothing",
    ],
    "aint": ["paint", "he is not here"],
    "in": ["the rain in Spain", "again within", "my cousin Martin", "he will begin", "in'"],
    "stay": ["he stays home", "they stay here"],
    "zero_s": [
        "he walked",
        "does he walk",
        "they walk",
        "he can walk",
        "let it go",
        "I saw her run",
        "she didn't talk",
        "make it work",
    ],
}


@pytest.mark.parametrize("name", GUISE_FEATURES)
def test_features_are_found_where_they_are_and_nowhere_else(name: str) -> None:
    def names(text: str) -> set[str]:
        return {feature.name for feature in detect_guise_features(text)}

    assert [text for text in PRESENT[name] if name not in names(text)] == []
    assert [text for text in ABSENT[name] if name in names(text)] == []


@pytest.mark.parametrize("name", GUISE_FEATURES)
def test_a_pair_set_differs_in_its_feature_alone(name: str) -> None:
    pairs = list(feature_pairs(name))
    assert len(pairs) == (64 if name == "zero_s" else 128)
    assert len({pair.first for pair in pairs}) == len(pairs)
    for pair in pairs:
        assert {feature.name for feature in detect_guise_features(pair.first)} == {name}
        assert detect_guise_features(pair.second) == ()


@pytest.mark.shared
def test_the_paper_s_pairs_hold_habitual_be_and_nothing_else(shared_dir) -> None:
    file = shared_dir / "data" / "matched_guise" / "pairs" / "habitual.txt"
    for line in file.read_text(encoding="utf-8").splitlines():
        first, second = line.split("\t")
        assert [feature.name for feature in detect_guise_features(first)] == ["habitual_be"]
        assert detect_guise_features(second) == ()


def test_places_are_those_of_the_text_as_it_is() -> None:
    text = "“She ain’t cookin’” he said"
    found = detect_guise_features(text)
    assert [(one.name, text[one.start : one.end]) for one in found] == [
        ("aint", "ain’t"),
        ("in", "cookin’"),
    ]


def test_the_command_writes_a_file_that_the_import_reads(tmp_path, capsys, db) -> None:
    file = tmp_path / "features.tsv"
    call_command("feature_pairs", str(file), "--feature", "finna", "--feature", "zero_s")
    assert "192 pairs of 2 features" in capsys.readouterr().out
    with file.open(encoding="utf-8") as opened:
        rows = list(csv.DictReader(opened, delimiter="\t"))
    assert rows[0] == {
        "AAE": "he is finna work late",
        "SAE": "he is about to work late",
        "source": "finna",
    }
    call_command(
        "import_corpus", str(file), "--name", "Features", "--license", "none",
        "--source-variety", "AAE", "--target-variety", "SAE",
    )  # fmt: skip
    assert "192 pairs" in capsys.readouterr().out
    with pytest.raises(CommandError, match="cannot be written: File exists"):
        call_command("feature_pairs", str(file))


def test_the_examples_in_the_code_hold() -> None:
    assert doctest.testmod(guise_features).failed == 0
