"""The library against the grammar of the two sets.

Expected texts are spelled out from Table 4 of Cao et al. (2022) and the list of the released set
in section 2 of the method specification.
"""

from __future__ import annotations

import pytest

from probing.measures.registry import MEASURES
from probing.measures.template_library import (
    BEST_TEMPLATES,
    TEMPLATE_SETS,
    TEMPLATES,
    get_template,
)

SINGULAR = {f"{word} {{singular}} is {{trait}}." for word in ("The", "That", "A")}
BELIEFS = {
    f"{who} {verb} that {{plural}} are {{trait}}."
    for subjects, verbs in (
        (("People", "We", "I"), ("believe", "know", "expect", "think")),
        (("Everyone",), ("believes", "knows", "expects", "thinks")),
    )
    for who in subjects
    for verb in verbs
}
EXPECTATIONS = {
    f"{{Plural}} {words} {{trait}}."
    for words in (
        "are supposed to be",
        "should be",
        "are seen as",
        "ought to be",
        "are expected to be",
    )
}
ADVERBS = {f"{{Plural}} are {word} {{trait}}." for word in ("very", "so", "mostly")}
OTHERS = {
    "{Plural} are {trait}.",
    "Why are {plural} {trait}?",
    "The {trait} people are {plural}.",
}
COMMON = SINGULAR | BELIEFS | EXPECTATIONS | ADVERBS | OTHERS
EXPECTED = {
    "cao-2022-released": COMMON
    | {f"{word} {{plural}} are {{trait}}." for word in ("Most", "Some", "Many", "All")}
    | {"{Plural} are more {trait} than others."},
    "cao-2022-table-4": COMMON
    | {f"{word} {{plural}} are {{trait}}." for word in ("Most", "Many", "All")}
    | {"{Plural} are more likely to be {trait} than others."},
}


@pytest.mark.parametrize("name", EXPECTED)
def test_a_set_holds_exactly_the_sentences_of_its_source(name: str) -> None:
    chosen = next(entry for entry in TEMPLATE_SETS if entry.slug == name)
    texts = [get_template(slug).text for slug in chosen.template_slugs]
    assert len(texts) == len(set(texts))
    assert set(texts) == EXPECTED[name]


def test_the_released_set_has_35_sentences() -> None:
    released = next(entry for entry in TEMPLATE_SETS if entry.slug == "cao-2022-released")
    assert len(released.template_slugs) == 35


def test_slugs_and_texts_are_unique() -> None:
    assert len({template.slug for template in TEMPLATES}) == len(TEMPLATES)
    assert len({template.text for template in TEMPLATES}) == len(TEMPLATES)
    assert len({entry.slug for entry in TEMPLATE_SETS}) == len(TEMPLATE_SETS)


def test_the_best_templates_are_those_of_table_5() -> None:
    table_5 = {
        ("ilps", "roberta"): {"That {singular} is {trait}."},
        ("ilps", "bert"): {"All {plural} are {trait}.", "{Plural} should be {trait}."},
        ("ilps_star", "roberta"): {"All {plural} are {trait}.", "That {singular} is {trait}."},
        ("ilps_star", "bert"): {
            "We expect that {plural} are {trait}.",
            "{Plural} should be {trait}.",
        },
        ("set", "roberta"): {"That {singular} is {trait}."},
        ("set", "bert"): {"All {plural} are {trait}.", "{Plural} should be {trait}."},
    }
    found = {key: {get_template(s).text for s in slugs} for key, slugs in BEST_TEMPLATES.items()}
    assert found == table_5
    assert {measure for measure, _ in BEST_TEMPLATES} <= set(MEASURES)


def test_an_unknown_template_lists_those_that_exist() -> None:
    with pytest.raises(KeyError, match=r"no template 'nothing'.*that-group-is-trait"):
        get_template("nothing")
