"""Templates and their sentences: what is certainly wrong, what may be, what the library says."""

from __future__ import annotations

import pytest

from annotation.library.abc_model import ALL_GROUPS, TRAIT_PAIRS, GroupEntry
from annotation.library.paired_groups import pair_groups
from probing.library.sentences import (
    article_problems,
    check_template,
    missing_forms,
    render,
)
from probing.measures.stimuli import Template
from probing.measures.template_library import TEMPLATES

ADJECTIVES = [
    word
    for pair in TRAIT_PAIRS
    for word in (pair.low, pair.high, *pair.low_synonyms, *pair.high_synonyms)
]
# Groups of the library whose singular begins with a vowel's sound; read and typed by hand.
WITH_A_VOWEL = {
    "american", "amish", "asian", "atheist", "autistic", "average", "elderly", "immigrant",
    "indian", "irish", "italian", "unemployed",
}  # fmt: skip


def test_no_template_of_the_library_is_remarked_on() -> None:
    assert {t.slug: found for t in TEMPLATES if (found := check_template(t.text, ADJECTIVES))} == {}


def test_of_all_groups_and_templates_only_wrong_articles_are_found() -> None:
    """2,016 sentences. “A elderly person” is what Table 4 makes of its “A [group]”."""
    found = {
        (template.slug, group.slug): [str(finding) for finding in sentence.findings]
        for template in TEMPLATES
        for group in ALL_GROUPS
        if (sentence := render(template, group, ADJECTIVES)).findings
    }
    assert set(found) == {("a-group-is-trait", slug) for slug in WITH_A_VOWEL}
    assert found["a-group-is-trait", "elderly"] == [
        "“A elderly” has the wrong article, expected “An elderly”."
    ]


def test_paired_groups_take_the_article_of_their_first_word() -> None:
    singles = [entry for entry in ALL_GROUPS if entry.domains]
    template = next(t for t in TEMPLATES if t.slug == "a-group-is-trait")
    pairs = list(pair_groups(singles))
    found = {pair.slug for pair in pairs if render(template, pair).findings}
    assert found == {pair.slug for pair in pairs if pair.first in WITH_A_VOWEL}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # number
        ("All {singular} are {trait}.", "“all” does not go with {singular}, expected {plural}"),
        ("These {singular} seem {trait}.", "“these” does not go with {singular}"),
        ("A {plural} seems {trait}.", "“a” does not go with {plural}, expected {singular}"),
        ("Every {plural} is {trait}.", "“every” does not go with {plural}"),
        ("{Plural} is {trait}.", "“is” does not agree with a plural group"),
        ("Most {plural} was {trait}.", "“was” does not agree with a plural group"),
        ("That {singular} are {trait}.", "“are” does not agree with a single group"),
        ("The {singular} have been {trait}.", "“have” does not agree with a single group"),
        ("Why are {singular} {trait}?", "“are” does not agree with a single group"),
        # capitals
        ("{plural} are {trait}.", "{plural} begins the sentence, expected {Plural}"),
        ("We think that {Plural} are {trait}.", "expected {plural}, without a capital"),
        ("the {plural} are {trait}.", "begins with “the”, expected a capital letter"),
        ("Look. {plural} are {trait}.", "{plural} begins the sentence"),
        # a single group needs a word before it
        ("{singular} is {trait}.", "expected a word such as “The” or “That” before it"),
        # the template's own articles
        ("An unit of {plural} seemed {trait}.", "“An unit” has the wrong article"),
        ("{Plural} have a idea of being {trait}.", "“a idea” has the wrong article"),
    ],
)
def test_what_is_wrong_with_every_group_is_an_error(text: str, message: str) -> None:
    found = [finding for finding in check_template(text) if finding.certain]
    assert any(message in finding.message for finding in found), found


@pytest.mark.parametrize(
    ("text", "message", "sentence"),
    [
        ("A group of {plural} is {trait}.", "“is” does not agree", "A group of nurses is ___."),
        ("Meeting {plural} is {trait}.", "“is” does not agree", "Meeting nurses is ___."),
        ("That {plural} are {trait} is known.", "“That” may not go", "That nurses are ___ is"),
        ("All {plural} are {trait}", "no full stop", "All nurses are ___"),
        ("{trait} {plural} are common.", "The adjective begins", "___ nurses are common."),
        ("In america all {plural} are {trait}.", "“America”", "In america all nurses are ___."),
        (
            "{Plural} are a {trait} group.",
            "“a” does not fit “honest”",
            "Nurses are a honest group.",
        ),
        ("{Plural} are an {trait} group.", "“an” does not fit “kind”", "Nurses are an kind group."),
    ],
)
def test_what_may_be_wrong_is_a_remark_with_its_sentence(
    text: str, message: str, sentence: str
) -> None:
    found = check_template(text, ["honest", "kind"])
    assert not [finding for finding in found if finding.certain]
    assert any(message in f.message and sentence in f.sentence for f in found), found


@pytest.mark.parametrize(
    "text",
    [
        "Is the {singular} {trait}?",
        "Are {plural} {trait}?",
        "Why do {plural} seem {trait}?",
        "No {singular} is {trait}.",
        "They said: “{Plural} are {trait}.”",
        "They said: {plural} are {trait}.",
        "Look! {Plural} are {trait}.",
        "Everybody who is {trait} loves {plural}.",
        "The problem is {plural}: {trait}!",
        "{Plural}, they say, are {trait}.",
        "Los {plural} son {trait}.",
    ],
)
def test_what_is_right_passes(text: str) -> None:
    assert check_template(text) == []


def test_a_group_without_the_form_that_a_template_needs_is_named_with_both() -> None:
    lacking = GroupEntry("nurse", " ", "nurses", "Nurses", ())
    whole = GroupEntry("doctor", "doctor", "doctors", "Doctors", ())
    templates = [
        Template("that-group-is-trait", "That {singular} is {trait}."),
        Template("all-groups-are-trait", "All {plural} are {trait}."),
    ]
    found = missing_forms([lacking, whole], templates)
    assert [(problem.where, problem.fatal) for problem in found] == [("groups", True)]
    assert found[0].message == (
        "The group “nurse” has no singular, which the template “That {singular} is {trait}.” "
        "needs. Give it one in the library, or leave out one of them."
    )
    templates.append(Template("a-group-is-trait", "A {singular} is {trait}."))
    found = missing_forms([lacking], templates)
    assert "“That {singular} is {trait}.” and 1 more need." in found[0].message


def test_a_template_whose_article_does_not_fit_is_remarked_on_once() -> None:
    found = article_problems(ALL_GROUPS, TEMPLATES)
    assert [(problem.where, problem.fatal) for problem in found] == [
        ("template a-group-is-trait", False)
    ]
    assert "does not fit 12 of the 56 groups" in found[0].message
    assert "“A Asian person is ___.”" in found[0].message
