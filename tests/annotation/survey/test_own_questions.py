"""Questions of a study's author: lines, numbers, statements and orders, from page to export."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from annotation.common.tables import Table, stream_csv
from annotation.exports.step_answers import build_answer_table
from annotation.exports.submissions import build_submission_table
from annotation.models import Instrument, StepAnswer, Submission
from annotation.researcher.submissions.review import describe_step_answers
from annotation.steps.forms import AnswersRefused
from annotation.steps.number import Number
from annotation.steps.slider import Slider
from annotation.survey.own_answers import list_own_answers
from tests.annotation.survey.flows import (
    choice,
    matrix,
    number,
    options,
    ranking,
    slider,
    texts,
)

NUMBERS = st.integers(-(10**6), 10**6)
TEXT = {"question": texts("How much?"), "low": texts("little"), "high": texts("much")}


def read(table: Table) -> list[dict[str, str]]:
    text = b"".join(stream_csv(table)).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


@given(NUMBERS, NUMBERS, st.integers(-5, 5000))
def test_a_line_has_one_to_a_thousand_whole_steps(low: int, high: int, by: int) -> None:
    places = (high - low) / by if by > 0 else 0
    try:
        Slider.model_validate({**TEXT, "minimum": low, "maximum": high, "step": by})
    except ValidationError:
        assert not (1 <= places <= 1000 and places.is_integer())
    else:
        assert 1 <= places <= 1000
        assert places.is_integer()


@given(st.integers(-10_000, 10_000), st.integers(-10_000, 10_000), st.integers(-10_000, 10_000))
def test_a_whole_number_is_stored_as_it_was_written_or_refused(
    low: int, high: int, given_number: int
) -> None:
    data = {"question": TEXT["question"], "minimum": low, "maximum": high}
    if low > high:
        with pytest.raises(ValidationError):
            Number.model_validate(data)
        return
    content = Number.model_validate(data)
    if low <= given_number <= high:
        assert content.read_number(str(given_number)) == given_number
    else:
        with pytest.raises(AnswersRefused):
            content.read_number(str(given_number))


@given(st.text(max_size=12) | st.from_regex(r"[-−]?[0-9]{1,4}([.,][0-9]{0,4})?", fullmatch=True))
def test_no_text_is_taken_for_another_number(text: str) -> None:
    content = Number.model_validate({"question": TEXT["question"], "integer": False})
    try:
        found = content.read_number(text)
    except AnswersRefused:
        return
    assert found == float(text.replace("−", "-").replace(",", "."))
    # A thousand to some, one to others.
    assert not (text[-4:-3] == "," and text[-3:].isdecimal())


FLOW = ["rating", slider(), number(), matrix(), ranking(random_order=False), choice()]


@pytest.fixture
def at_question(db: None, make_study, make_person):  # type: ignore[no-untyped-def]
    """Return who stands at the first question of a flow."""

    def begin(flow: list[Any]):  # type: ignore[no-untyped-def]
        person = make_person()
        person.start(make_study(flow=flow).get_absolute_url())
        assert person.send(person.see().page).status == 302
        return person

    return begin


def test_answers_lead_from_the_page_to_reviewers_participants_and_exports(at_question) -> None:  # type: ignore[no-untyped-def]
    person = at_question(FLOW)
    submission = Submission.objects.get()
    for sent in (
        {"value-answer": "65", "touched-answer": "1"},
        {"number": "4"},
        {"row-it-was-clear": "agree", "row-it-was-long": "disagree"},
        {"place-friends": "2", "place-news": "3", "place-films": "1"},
        {"choice": "panel"},
    ):
        assert person.send(person.see().page, **sent).status == 302
    assert dict(StepAnswer.objects.values_list("key", "value")) == {
        "sure": 65,
        "household": 4,
        "views": {"it-was-clear": "agree", "it-was-long": "disagree"},
        "sources": {"friends": 2, "news": 3, "films": 1},
        "heard": "panel",
    }
    old, agree = (texts_of(FLOW[1]), "How far do you agree?")
    assert describe_step_answers(submission) == [
        (old, "65 years"),
        ("How many people live in your household?", "4 people"),
        (f"{agree} – it was clear", "“agree”"),
        (f"{agree} – it was long", "“disagree”"),
        ("Where do you learn about other groups? – films", "1"),
        ("Where do you learn about other groups? – friends", "2"),
        ("Where do you learn about other groups? – news", "3"),
        ("Where did you hear of this study?", "“panel”"),
    ]
    own = [(row.question, row.answer) for row in list_own_answers(submission)]
    assert ("it was clear", "agree") in own
    assert ("films", "1") in own

    submission.refresh_from_db()
    wide = read(build_submission_table(submission.study))[0]
    assert {name: wide[name] for name in wide if name.startswith("step_")} == {
        "step_sure": "65",
        "step_household": "4",
        "step_views_it_was_clear": "agree",
        "step_views_it_was_long": "disagree",
        "step_sources_friends": "2",
        "step_sources_news": "3",
        "step_sources_films": "1",
        "step_heard": "panel",
    }
    described = {c.name: c for c in build_submission_table(submission.study).columns}
    assert described["step_sure"].values == "20 to 120, in years; empty: not answered"
    assert described["step_sure"].meaning == f"{old} (young to old)"
    assert described["step_sources_news"].values == "1 (first) to 3; empty: not answered"
    tidy = read(build_answer_table(submission.study))
    assert [(row["question"], row["part"], row["answer"], row["number"]) for row in tidy] == [
        ("sure", "", "65", "65"),
        ("household", "", "4", "4"),
        ("views", "it-was-clear", "agree", ""),
        ("views", "it-was-long", "disagree", ""),
        ("sources", "films", "1", "1"),
        ("sources", "friends", "2", "2"),
        ("sources", "news", "3", "3"),
        ("heard", "", "panel", ""),
    ]


def texts_of(item: Any) -> str:
    return str(item["question"]["en"])


@pytest.mark.parametrize(
    ("item", "sent", "status", "told"),
    [
        (slider(), {"touched-answer": "0"}, 422, "Not answered yet."),
        (slider(), {"value-answer": "67"}, 422, "Write a number from 20 to 120 in steps of 5"),
        (slider(), {"value-answer": "125"}, 422, "Write a number from 20 to 120"),
        (slider(), {"touched-answer": "2"}, 400, "neither 0 nor 1"),
        (slider(), {"value-other": "1"}, 400, "does not belong to this page"),
        (slider(required=False), {"touched-answer": "0"}, 302, ""),
        (number(), {"number": ""}, 422, "Enter a number."),
        (number(), {"number": "31"}, 422, "Enter a number from 1 to 30."),
        (number(), {"number": "2.5"}, 422, "Enter a whole number in digits"),
        (number(), {"number": "1,000"}, 422, "Enter a whole number in digits"),
        (number(required=False), {"number": " "}, 302, ""),
        (matrix(), {"row-it-was-long": ""}, 422, "Choose one."),
        (matrix(), {"row-it-was-long": "maybe"}, 400, "not among the answers"),
        (matrix(), {"row-other": "agree"}, 400, "does not belong to this page"),
        (matrix(required=False), {"row-it-was-long": ""}, 302, ""),
        (ranking(), {"place-news": ""}, 422, "Choose a place."),
        (ranking(), {"place-news": "1", "place-films": "1"}, 422, "Place 1 is given twice."),
        (ranking(), {"place-news": "4"}, 400, "not among the answers"),
    ],
)
def test_what_cannot_be_an_answer_is_told_and_not_stored(  # type: ignore[no-untyped-def]
    at_question, item: Any, sent: dict[str, str], status: int, told: str
) -> None:
    person = at_question(["rating", item, "demographics"])
    before = person.see().page
    answer = person.send(before, **sent)
    assert answer.status == status
    assert told in answer.html
    kept = StepAnswer.objects.values_list("value", flat=True)
    if status != 302:
        assert not kept
        assert Submission.objects.get().step_index == 1
    elif item["kind"] == "matrix":
        assert list(kept) == [{"it-was-clear": "agree"}]
    else:
        assert not kept


def test_the_seed_puts_answers_in_an_order_of_their_own(at_question, make_person) -> None:  # type: ignore[no-untyped-def]
    many = options(*(f"item-{n}" for n in range(9)))
    person = at_question(["rating", ranking(items=many, random_order=True), "demographics"])
    own = list(person.see().page.options)
    assert own == list(person.see().page.options)
    other = make_person()
    other.start(Instrument.objects.get().study.get_absolute_url())
    other.send(other.see().page)
    assert list(other.see().page.options) != own
    assert sorted(other.see().page.options) == sorted(own)


def test_a_number_decides_which_step_follows(at_question) -> None:  # type: ignore[no-untyped-def]
    person = at_question(
        [
            "rating",
            number(),
            choice("alone", show_if={"step": "household", "at_most": 1}),
            choice("many", show_if={"step": "household", "at_least": 2}),
        ]
    )
    person.send(person.see().page, number="2")
    assert Submission.objects.get().step_index == 3
