"""Flows as data: what is read, what is refused, and where the message belongs."""

from __future__ import annotations

from typing import Any

import pytest
from django.template.loader import select_template

from annotation.instruments.conditions import (
    ConditionError,
    Known,
    holds,
    parse_condition,
)
from annotation.instruments.flow import DEFAULT_FLOW, FlowError, parse_flow, read_flow
from annotation.steps.kind import KINDS, iterate_texts
from annotation.steps.texts import text_in
from tests.annotation.survey.flows import (
    choice,
    comprehension,
    free_text,
    instructed,
    matrix,
    nonsensical,
    number,
    options,
    page,
    practice,
    ranking,
    slider,
    texts,
)


def test_every_kind_of_step_has_a_page_and_a_place_in_the_menu() -> None:
    for kind in KINDS.values():
        assert select_template([kind.template])
        assert kind.label
        assert kind.about


def test_a_plain_flow_reads_as_before() -> None:
    steps = parse_flow(DEFAULT_FLOW)
    assert [step.kind for step in steps] == DEFAULT_FLOW
    # Section 4 of the paper: positions of the five rating pages, checks with the page before.
    assert [step.position for step in steps] == [0, 0, 1, 1, 2, 2, 3, 4, 5, 0]
    assert all(step.key == "" and step.show_if is None for step in steps)


def test_a_flow_with_every_kind_is_read() -> None:
    flow = [
        "consent",
        "instructions",
        comprehension(),
        page(),
        practice(),
        choice(),
        {"kind": "rating", "key": "first"},
        {"kind": "group_name", "key": "name"},
        instructed(show_if={"step": "name", "is": "failed"}),
        "rating",
        "marked_traits",
        "typed_traits",
        nonsensical(show_if={"step": "heard", "any_of": ["friend", "other"]}),
        "repeat",
        "demographics",
        slider(),
        number(show_if={"step": "sure", "at_least": 50}),
        matrix(),
        ranking(),
        free_text(show_if={"not": {"question": "age", "at_least": 60}}),
        "debrief",
    ]
    steps = parse_flow(flow)
    assert {step.kind for step in steps} == set(KINDS)
    assert all(type(step.content) is KINDS[step.kind] for step in steps)
    assert [step.position for step in steps if step.position] == [1, 1, 2, 2, 2, 3]


@pytest.mark.parametrize(
    ("flow", "expected"),
    [
        ([], "The flow is empty"),
        ({"kind": "rating"}, "The flow is empty"),
        (["rating"] * 201, "201 steps, expected at most 200"),
        (["consent", "dance"], "Step 2 is “dance”, expected one of"),
        ([7, "rating"], "Step 1 is “7”, expected one of"),
        (["consent"], "no rating page"),
        (["rating", "consent"], "Step 2 is “consent”, expected it as the first step"),
        (["rating", "repeat", "repeat"], "Step 3 repeats “repeat”"),
        (["group_name", "rating"], "Step 1 is “group_name”, expected it after a rating page"),
        (["rating", choice(), "group_name"], "Step 3 is “group_name”, expected it after"),
        (["repeat", "rating"], "expected a rating page before it"),
        (["rating", "repeat", "rating"], "rating page after the repeated group"),
        (["rating", practice()], "practice page after a rating page"),
        ([comprehension(), "rating"], "expected them before it"),
        (["debrief", "rating"], "Step 1 is “debrief”, expected it as the last step"),
        (["rating", choice(key="")], "Step 2 has a name that cannot be used"),
        (["rating", choice(key="Not good")], "“Not good” is no name for the data"),
        (["rating", choice(), free_text("heard")], "“heard”, which another step has already"),
        (["rating", {"kind": "rating", "color": "red"}], "is “rating” and has no “color”"),
        (["rating", choice(color="red")], "color: It is not known here."),
        (["rating", {"kind": "choice", "key": "a"}], "question: It is missing."),
        (["rating", choice(options=options("one"))], "options: There are 1, expected at least 2."),
        (["rating", choice(options=options("one", "one"))], "Two answers have the name “one”"),
        (["rating", choice(question={"en": "  "})], "question: The text is empty."),
        (["rating", choice(question={"English": "a"})], "“English” is no language code"),
        (["rating", choice(question={"en": "a\x00"})], "a character that cannot be stored"),
        (
            ["rating", choice(question="plain")],
            "question: Expected a text by language, such as {“en”: “…”}.",
        ),
        (["rating", free_text(max_characters=0)], "It is 0, expected 1 or more."),
        (["rating", instructed(expected="perhaps")], "The answer that passes is “perhaps”"),
        (["rating", nonsensical(accepted=["yes", "no", "not-sure"])], "Every answer passes"),
        (["instructions", comprehension(right="x"), "rating"], "The right answer is “x”"),
        (
            ["instructions", comprehension(on_failure="shout"), "rating"],
            "“shout”, expected 'screen_out' or 'go_on'",
        ),
        ([practice(lines=[]), "rating"], "lines: There are 0, expected at least 1."),
        ([{"kind": "instructions", "show_if": {}}, "rating"], "cannot be read"),
        (
            [choice(show_if={"visit": "language", "is": "en"}), "rating"],
            "nothing is known before the first step",
        ),
        (
            ["consent", {"kind": "rating", "show_if": {"visit": "language", "is": "en"}}],
            "is “rating”, which is always asked",
        ),
        (
            ["rating", free_text(show_if={"step": "later", "is": "a"}), choice("later")],
            "depends on “later”, expected the name of an earlier check",
        ),
        (
            ["rating", choice(), free_text(show_if={"step": "heard", "is": "radio"})],
            "the answer “radio” to “heard”, expected one of: friend, panel, other",
        ),
        (
            ["rating", free_text(show_if={"question": "age", "is": "3"}), "demographics"],
            "expected the demographic questions before it",
        ),
        (
            ["rating", free_text("one"), free_text("two", show_if={"step": "one", "is": "x"})],
            "depends on “one”, expected the name of an earlier check",
        ),
    ],
)
def test_a_flow_that_makes_no_sense_is_refused(flow: Any, expected: str) -> None:
    with pytest.raises(FlowError) as refused:
        parse_flow(flow)
    assert expected in str(refused.value)


def test_all_problems_are_told_each_at_its_step_and_field() -> None:
    flow = ["dance", choice(key="", options=options("one")), "rating", {"kind": "debrief"}, "sing"]
    _steps, problems = read_flow(flow)
    assert [(problem.index, problem.field) for problem in problems] == [
        (0, "kind"),
        (1, "key"),
        (1, "options"),
        (4, "kind"),
    ]


def test_texts_are_read_in_the_best_language_there_is() -> None:
    both = {"en": "Yes", "es": "Sí"}
    assert text_in(both, "es") == "Sí"
    assert text_in(both, "es-MX") == "Sí"
    assert text_in(both, "de") == "Yes"
    assert text_in(both, "de", fallback="es") == "Sí"
    assert text_in({"fr": "Oui", "de": ""}, "de") == "Oui"
    assert text_in({}, "de") == ""


def test_every_text_of_a_content_is_found_with_its_place() -> None:
    step = parse_flow(["rating", choice(help=texts("One answer."))])[1]
    assert step.content is not None
    found = [place for place, _ in iterate_texts(step.content)]
    assert found == ["question", "help", "options 1 text", "options 2 text", "options 3 text"]


KNOWN = Known(
    steps={"heard": frozenset({"friend", "other"}), "name": frozenset({"failed"})},
    questions={"age": frozenset({37}), "gender": frozenset({"Woman"}), "state": frozenset({"41"})},
    language="es",
)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ({"step": "heard", "is": "other"}, True),
        ({"step": "heard", "is": "panel"}, False),
        ({"step": "name", "any_of": ["passed", "not_asked"]}, False),
        ({"step": "missing", "is": "friend"}, False),
        ({"not": {"step": "missing", "is": "friend"}}, True),
        ({"question": "age", "at_least": 37}, True),
        ({"question": "age", "at_least": 30, "at_most": 36}, False),
        ({"question": "age", "is": "37"}, True),
        ({"question": "income", "at_most": 5}, False),
        # A text is no number, even if it looks like one.
        ({"question": "state", "at_least": 1}, False),
        ({"visit": "language", "any_of": ["es", "fr"]}, True),
        ({"all": [{"step": "name", "is": "failed"}, {"visit": "language", "is": "en"}]}, False),
        ({"any": [{"step": "name", "is": "passed"}, {"question": "gender", "is": "Woman"}]}, True),
    ],
)
def test_conditions_are_judged_by_what_is_known(condition: Any, expected: bool) -> None:
    assert holds(parse_condition(condition), KNOWN) is expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("yes", "expected an object"),
        ({"all": []}, "list of 1 to 20"),
        ({"all": [{"step": "a", "is": "b"}], "any": []}, "expected “step”"),
        ({"step": "a", "question": "b", "is": "c"}, "expected “step”"),
        ({"step": "a"}, "compares by nothing"),
        ({"step": "a", "is": 3}, "A value is “3”, expected a text"),
        ({"step": "a", "any_of": []}, "a list of values"),
        ({"visit": "language", "at_least": 3}, "compares by at_least"),
        ({"step": 4, "is": "a"}, "expected a name"),
        ({"question": "a\x00", "is": "a"}, "a character that cannot be stored"),
        ({"question": "a", "is": "\ud800"}, "a character that cannot be stored"),
        ({"question": "a", "at_most": float("nan")}, "expected a number"),
        ({"question": "a", "at_least": True}, "expected a number"),
        ({"visit": "device", "is": "phone"}, "expected “language”"),
        ({"not": {"not": {"not": {"not": {"step": "a", "is": "b"}}}}}, "nested deeper than 4"),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused(condition: Any, expected: str) -> None:
    with pytest.raises(ConditionError) as refused:
        parse_condition(condition)
    assert expected in str(refused.value)
