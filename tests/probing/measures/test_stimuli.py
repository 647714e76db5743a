"""Stimuli as values: equal when equal, refused when faulty, the same after a trip through JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from typing import Any

import pytest

from probing.measures.stimuli import Group, Stimuli, StimuliError, Template, Trait
from probing.measures.templates import TemplateError
from tests.conftest import ROOT

MEN = Group("man", "man", "men", "Men")
POOR = Trait("poor-wealthy", "poor", "wealthy", "agency")
THAT = Template("that", "That {singular} is {trait}.")
SMALL = Stimuli((MEN,), (POOR,), (THAT,))

#: The canonical JSON of SMALL, written by hand: keys in alphabetical order, no spaces.
SMALL_JSON = (
    '{"groups":[{"plural":"men","plural_capitalised":"Men","singular":"man","slug":"man"}],'
    '"templates":[{"slug":"that","text":"That {singular} is {trait}."}],'
    '"traits":[{"dimension":"agency","high":"wealthy","low":"poor","slug":"poor-wealthy"}]}'
)


def test_json_is_canonical_and_reads_back() -> None:
    assert SMALL.to_json() == SMALL_JSON
    assert Stimuli.from_json(SMALL_JSON) == SMALL
    assert Stimuli.from_json(json.loads(SMALL_JSON)) == SMALL
    assert Stimuli.from_dict(SMALL.to_dict()) == SMALL


def test_the_hash_is_that_of_the_canonical_json_in_every_process() -> None:
    """The expected digest comes from the system's sha256sum, fed with the text above."""
    printed = subprocess.run(
        ["sha256sum"], input=SMALL_JSON.encode(), capture_output=True, check=True
    ).stdout.decode()
    assert SMALL.content_hash() == printed.split()[0]
    program = (
        "import sys; from probing.measures.stimuli import Stimuli;"
        "print(Stimuli.from_json(sys.stdin.read()).content_hash())"
    )
    other = subprocess.run(
        [sys.executable, "-c", program],
        input=SMALL_JSON,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT)},
    ).stdout
    assert SMALL.content_hash() == other.strip()


def test_the_hash_tells_every_change(small_stimuli: Stimuli) -> None:
    changed = [
        small_stimuli,
        replace(small_stimuli, groups=small_stimuli.groups[::-1]),
        replace(small_stimuli, groups=(replace(MEN, plural="gentlemen"),)),
        replace(small_stimuli, traits=small_stimuli.traits[:1]),
        replace(small_stimuli, templates=(THAT,)),
    ]
    assert len({stimuli.content_hash() for stimuli in changed}) == len(changed)


def test_values_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        SMALL.groups = ()  # type: ignore[misc]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ([], "an object with groups, traits and templates"),
        ({}, "an object with groups, traits and templates"),
        ({"groups": [], "traits": [], "templates": []}, "no groups"),
        ({"groups": {}, "traits": [], "templates": []}, "groups must be a list"),
        ({"groups": "men", "traits": [], "templates": []}, "groups must be a list"),
        ({"groups": [{"slug": "man"}], "traits": [], "templates": []}, "Entry 1 of groups"),
        ({"groups": ["men"], "traits": [], "templates": []}, "Entry 1 of groups"),
    ],
)
def test_data_of_the_wrong_shape_is_refused(data: Any, fault: str) -> None:
    with pytest.raises(StimuliError, match=fault):
        Stimuli.from_dict(data)


def test_text_that_is_not_json_is_refused() -> None:
    with pytest.raises(StimuliError, match="not JSON"):
        Stimuli.from_json("{")


def test_a_slug_that_occurs_twice_is_named() -> None:
    with pytest.raises(StimuliError, match="group 'man' is listed twice"):
        Stimuli((MEN, MEN), (POOR,), (THAT,))


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(StimuliError, match="group 'man' has no plural"):
        Group("man", "man", " ", "Men")
    with pytest.raises(StimuliError, match="trait 'poor-wealthy' has no high"):
        Trait("poor-wealthy", "poor", "", "agency")
    with pytest.raises(TemplateError, match="template 'that' has no text"):
        Template("that", "")


def test_an_unknown_slug_is_named() -> None:
    with pytest.raises(StimuliError, match="no group 'woman'"):
        SMALL.group("woman")
    with pytest.raises(StimuliError, match="no template 'all'"):
        SMALL.template("all")
    assert SMALL.group("man") == MEN
    assert SMALL.template("that") == THAT
