"""Which template texts can be used, and what a bad one is told."""

from __future__ import annotations

import pytest

from probing.measures.stimuli import Group, Template
from probing.measures.templates import TemplateError, parse_template

ELDERLY = Group("elderly", "elderly person", "elderly people", "Elderly people")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("That {singular} is {trait}.", "That elderly person is kind."),
        ("All {plural} are {trait}.", "All elderly people are kind."),
        ("{Plural} should be {trait}.", "Elderly people should be kind."),
        ("The {trait} people are {plural}.", "The kind people are elderly people."),
        ("Why are {plural} {trait}?", "Why are elderly people kind?"),
    ],
)
def test_a_template_becomes_a_sentence(text: str, sentence: str) -> None:
    assert Template("template", text).fill(ELDERLY, "kind") == sentence


@pytest.mark.parametrize(
    ("text", "noun"),
    [
        ("That {singular} is {trait}.", "person"),
        ("All {plural} are {trait}.", "people"),
        ("{Plural} are {trait}.", "People"),
    ],
)
def test_the_generic_noun_has_the_form_of_the_slot(text: str, noun: str) -> None:
    """person, people and People: method specification, section 2."""
    assert Template("template", text).generic_noun == noun


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is empty"),
        ("   ", "is empty"),
        ("That person is {trait}.", "no group slot"),
        ("That {singular} is kind.", "no trait slot"),
        ("{Plural} and {plural} are {trait}.", r"2 group slots \(\{Plural\}, \{plural\}\)"),
        ("{Plural} are {trait} and {trait}.", "2 trait slots"),
        ("That {group} is {trait}.", r"holds '\{group\}'"),
        ("That {Singular} is {trait}.", r"holds '\{Singular\}'"),
        ("That {} is {trait}.", r"holds '\{\}'"),
        ("That {singular} is {trait}, {0}.", r"holds '\{0\}'"),
        ("That {singular is {trait}.", "single brace"),
        ("That {{singular}} is {trait}.", "single brace"),
        ("{Plural} are un{trait}.", "touches a letter"),
        ("{Plural}s are {trait}.", "touches a letter"),
        ("{Plural}{trait}.", "touches a letter or the other slot"),
        ("That {singular}\nis {trait}.", "line break"),
        (" That {singular} is {trait}.", "begins or ends with a space"),
    ],
)
def test_a_bad_template_names_the_fault_and_the_remedy(text: str, fault: str) -> None:
    with pytest.raises(TemplateError, match=fault) as raised:
        parse_template(text)
    assert text.strip() in str(raised.value) or repr(text) in str(raised.value)
    assert any(word in str(raised.value) for word in ("Write one", "put a space"))


def test_it_is_noticed_when_the_adjective_opens_the_sentence() -> None:
    assert parse_template("{trait} people are {plural}.").opens_with_trait
    assert not parse_template("The {trait} people are {plural}.").opens_with_trait
    assert not parse_template("{Plural} are {trait}.").opens_with_trait
