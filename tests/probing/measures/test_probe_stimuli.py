"""Templates with any placeholder, groups with several fillers, and collapsing maps."""

from __future__ import annotations

import pytest

from probing.measures.label_map import LabelMapError, read_label_map
from probing.measures.probe_stimuli import ProbeGroup, ProbeStimuli, ProbeTemplate
from probing.measures.probe_templates import (
    ProbeTemplateError,
    fill,
    mention_templates,
    missing_placeholders,
    placeholders,
)
from probing.measures.stimuli import StimuliError

ADJ = "identity_adj"


@pytest.mark.parametrize(
    ("text", "filler", "sentence"),
    [
        ("The {identity_adj} person won.", "asian", "The asian person won."),
        ("{Identity_adj} people won.", "asian", "Asian people won."),
        ("I know a {identity_adj} lawyer.", "asian", "I know an asian lawyer."),
        ("I know an {identity_adj} lawyer.", "white", "I know a white lawyer."),
        ("An {identity_adj} actor won.", "", "An actor won."),
        ("A {identity_adj} actor won.", "", "An actor won."),
        ("{Identity_adj} people won.", "", "People won."),
        ("Alex is {identity_adj}.", "", None),
        ("They are {identity_adj} and they rock.", "", None),
    ],
)
def test_fillers_agree_with_their_sentence(text: str, filler: str, sentence: str | None) -> None:
    assert fill(text, {ADJ: filler}) == sentence


def test_a_star_fills_every_placeholder() -> None:
    assert fill("{race} and {Noun}", {"*": "tall", "race": "old"}) == "old and Tall"
    assert missing_placeholders("{race} and {Noun}", ["race"]) == ["noun"]
    assert missing_placeholders("{race} and {Noun}", ["*"]) == []


@pytest.mark.parametrize("text", ["Nothing here.", "The {} person.", "The {a person.", "{a b} x"])
def test_bad_placeholders_are_refused(text: str) -> None:
    with pytest.raises(ProbeTemplateError):
        placeholders(text)


def test_templates_are_found_behind_sentences() -> None:
    words = ("black", "african american")
    assert mention_templates("I know an african american lawyer.", words, ADJ) == [
        ("I know a {identity_adj} lawyer.", "african american")
    ]
    assert mention_templates("Black people.", words, ADJ) == [("{Identity_adj} people.", "black")]
    assert mention_templates("People.", words, ADJ) == []
    assert [template for template, _ in mention_templates("black in black", words, ADJ)] == [
        "{identity_adj} in {identity_adj}",
        "{identity_adj} in black",
        "black in {identity_adj}",
    ]


def stimuli(**changes: object) -> ProbeStimuli:
    given: dict[str, object] = {
        "templates": (
            ProbeTemplate("won", "The {identity_adj} person won.", 2),
            ProbeTemplate("is", "Alex is {identity_adj}.", 1),
        ),
        "groups": (
            ProbeGroup("black", "Black", ({ADJ: "black"}, {ADJ: "african american"})),
            ProbeGroup("white", "White", ({ADJ: "white"},)),
            ProbeGroup("unmarked", "no mention", ({"*": ""},), "unmarked"),
        ),
    }
    return ProbeStimuli(**{**given, **changes})  # type: ignore[arg-type]


def test_expansion_counts_sentences_by_group_filler_and_label() -> None:
    """Two templates with three words; the unmarked sentence exists for the first alone."""
    assert stimuli().counts() == {
        ("black", "black", 2): 1,
        ("black", "african american", 2): 1,
        ("white", "white", 2): 1,
        ("unmarked", "no word", 2): 1,
        ("black", "black", 1): 1,
        ("black", "african american", 1): 1,
        ("white", "white", 1): 1,
    }


@pytest.mark.parametrize("cells", [None, ((0, 0, 1), (1, 1, 0), (1, 1, 0))])
def test_stimuli_come_back_as_they_were_stored(
    cells: tuple[tuple[int, int, int], ...] | None,
) -> None:
    before = stimuli(cells=cells)
    after = ProbeStimuli.from_json(before.to_dict())
    assert after.sentences == before.sentences
    assert after.content_hash() == before.content_hash()


def test_impossible_stimuli_are_refused() -> None:
    with pytest.raises(StimuliError, match="label 3"):
        stimuli(templates=(ProbeTemplate("t", "{a}", 3),))
    with pytest.raises(StimuliError, match="comes twice"):
        stimuli(groups=(ProbeGroup("a", "A", ({"*": "x"},)),) * 2)


def test_labels_are_collapsed_as_published() -> None:
    """Kohankhaki et al., §3.3 and §3.4."""
    assert read_label_map("sst5").collapse(["0", 1, "Neutral", "somewhat positive", 4]) == [
        0,
        0,
        1,
        2,
        2,
    ]
    assert read_label_map("semeval").collapse([-3, -2, -1, 0, 1, 2, 3]) == [0, 0, 1, 1, 1, 2, 2]
    assert read_label_map("ternary").collapse(["0", "NEU", "LABEL_2", "1.0", 2.0]) == [
        0,
        1,
        2,
        1,
        2,
    ]
    assert read_label_map("bad=negative, good = positive").collapse(["Good", "bad"]) == [2, 0]


def test_labels_outside_of_the_map_are_named() -> None:
    with pytest.raises(LabelMapError, match=r"“4” \(2\).*bad=negative"):
        read_label_map("ternary").collapse(["0", "4", "4"])


@pytest.mark.parametrize("text", ["", "negative", "0=awful", "0=negative, 0=positive"])
def test_unreadable_maps_are_refused(text: str) -> None:
    with pytest.raises(LabelMapError):
        read_label_map(text)
