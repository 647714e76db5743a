"""The kinds of steps that bring their own content: what they show, store, refuse and pass over."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import CheckResponse, Rating, StepAnswer, Study, Submission
from annotation.survey.withdrawal import withdraw_submission
from tests.annotation.survey.flows import (
    choice,
    comprehension,
    free_text,
    instructed,
    nonsensical,
    options,
    practice,
    texts,
)
from tests.annotation.survey.pages import SurveyPage
from tests.annotation.survey.participants import Person

pytestmark = pytest.mark.django_db


@pytest.fixture
def take_part(make_study, make_person):  # type: ignore[no-untyped-def]
    """Return a function that starts a visit of a flow; its first step is sent unless told not."""

    def take(flow: list[Any], **study_options: Any) -> Person:
        study: Study = make_study(flow=flow, **study_options)
        person: Person = make_person()
        assert person.start(study.get_absolute_url()).status == 302
        return person

    return take


def submission() -> Submission:
    return Submission.objects.get()


def at(person: Person, heading: str) -> SurveyPage:
    """Return the current page, which must have this heading."""
    page = person.see().page
    assert page.heading == heading
    return page


QUESTION = "Where did you hear of this study?"


def test_a_choice_is_stored_under_its_name(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part([choice(), "rating"])
    page = at(person, QUESTION)
    assert page.options["choice"] == ["friend", "panel", "other"]
    refused = person.send(page)
    assert refused.status == 422
    assert "Choose one." in refused.page.text
    assert not StepAnswer.objects.exists()
    assert person.send(page, choice="panel").status == 302
    answer = StepAnswer.objects.get()
    assert (answer.key, answer.value, answer.step_index) == ("heard", "panel", 0)
    # The same page once more stores nothing and changes nothing.
    assert person.send(page, choice="friend").status == 302
    assert StepAnswer.objects.get().value == "panel"


def test_several_answers_are_stored_in_the_order_of_the_page(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part([choice(several=True), "rating"])
    person.send(person.see().page, choice=["other", "friend"])
    assert StepAnswer.objects.get().value == ["friend", "other"]


@pytest.mark.parametrize("several", [True, False])
def test_an_optional_choice_may_be_left_open(take_part, several: bool) -> None:  # type: ignore[no-untyped-def]
    person = take_part([choice(several=several, required=False), "rating"])
    assert person.send(person.see().page).status == 302
    assert not StepAnswer.objects.exists()
    assert submission().step_index == 1


@pytest.mark.parametrize("sent", [["radio"], ["friend", "friend"], ["friend", "panel"]])
def test_a_choice_that_the_page_cannot_send_is_refused(take_part, sent: list[str]) -> None:  # type: ignore[no-untyped-def]
    person = take_part([choice(), "rating"])
    assert person.send(person.see().page, choice=sent).status == 400
    assert not StepAnswer.objects.exists()
    assert submission().step_index == 0


def test_a_text_keeps_its_lines_and_loses_what_cannot_be_seen(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part([free_text(), "rating"])
    person.send(at(person, "What did you think?"), text="  One.\r\n\r\nTwo\x07 <b>.  \n")
    assert StepAnswer.objects.get().value == "One.\n\nTwo  <b>."


def test_a_text_that_is_too_long_is_kept_on_the_page(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part([free_text(max_characters=5, long=False), "rating"])
    refused = person.send(person.see().page, text="sixsix")
    assert refused.status == 422
    assert "6 characters. Write 5 or fewer" in refused.page.text
    assert 'value="sixsix"' in refused.html
    assert not StepAnswer.objects.exists()


def test_a_required_text_has_to_be_written(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part([free_text(required=True), "rating"])
    assert "Write an answer." in person.send(person.see().page, text=" \n ").page.text
    assert person.send(person.see().page, text="Fine").status == 302


def test_practice_is_rated_and_not_kept(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part([practice(), "rating"])
    page = at(person, "How is the weather in summer?")
    assert page.lines == {"practice-1": ("cold", "warm"), "practice-2": ("dry", "wet")}
    refused = person.connection.post(page.action, dict(page.fields))
    assert refused.status == 422
    assert "Not answered yet." in refused.page.text
    sent: dict[str, str | list[str]] = dict(page.fields)
    for line in page.lines:
        sent |= {f"value-{line}": "70", f"touched-{line}": "1"}
    assert person.connection.post(page.action, sent).status == 302
    assert not Rating.objects.exists()
    assert submission().step_index == 1
    assert submission().pages.get().step_kind == "practice"


@pytest.mark.parametrize(("chosen", "passed"), [("somewhat-disagree", True), ("agree", False)])
def test_instructed_check_passes_by_the_answer_it_asks_for(take_part, chosen, passed) -> None:  # type: ignore[no-untyped-def]
    person = take_part([instructed(), "rating"])
    page = person.see().page
    assert "payment" not in page.text.lower()  # it may cost pay where a panel allows it
    person.send(page, choice=chosen)
    check = CheckResponse.objects.get()
    assert (check.kind, check.passed, check.answer) == ("instructed", passed, {"chosen": chosen})


@pytest.mark.parametrize(("chosen", "passed"), [("yes", False), ("no", True), ("not-sure", True)])
def test_nonsensical_check_fails_who_affirms_it(take_part, chosen, passed) -> None:  # type: ignore[no-untyped-def]
    person = take_part([nonsensical(), "rating"])
    person.send(person.see().page, choice=chosen)
    check = CheckResponse.objects.get()
    assert (check.kind, check.passed) == ("nonsensical", passed)


def test_a_failed_instructed_check_decides_about_the_data_and_not_about_pay(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part([instructed(), "rating"], decide_by_checks=True)
    person.send(person.see().page, choice="agree")
    person.go_on()
    done = submission()
    assert (done.outcome, done.checks_passed) == ("failed_check", False)
    assert (done.data_decision, done.pay_decision) == ("excluded", "approved")


# --- comprehension --------------------------------------------------------------------------------


def test_instructions_understood_at_once(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part(["instructions", comprehension(), "rating"])
    person.send(person.see().page)
    page = at(person, "Whose view are you asked for?")
    assert "You have two tries." in page.text
    assert "how groups of people" in page.text or "people in America" in page.text
    person.send(page, choice="people-in-america")
    check = CheckResponse.objects.get()
    assert (check.passed, check.answer) == (True, {"tries": ["people-in-america"]})
    assert submission().step_index == 2


def test_the_second_try_counts(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part(["instructions", comprehension(), "rating"])
    person.send(person.see().page)
    first = person.see().page
    person.send(first, choice="my-own")
    second = person.see().page
    assert "That was not the right answer." in second.text
    assert submission().step_index == 1
    # A double click, a reload of the first page or the Back button is no second try.
    person.send(first, choice="my-own")
    assert CheckResponse.objects.get().answer == {"tries": ["my-own"]}
    person.send(second, choice="people-in-america")
    check = CheckResponse.objects.get()
    assert (check.passed, check.reason) == (True, "")
    assert check.answer == {"tries": ["my-own", "people-in-america"]}
    assert submission().step_index == 2
    assert submission().pages.filter(step_kind="comprehension").count() == 1


@pytest.mark.parametrize("on_failure", ["screen_out", "go_on"])
def test_two_wrong_answers_end_the_visit_or_are_recorded(take_part, on_failure) -> None:  # type: ignore[no-untyped-def]
    person = take_part(["instructions", comprehension(on_failure=on_failure), "rating"])
    person.send(person.see().page)
    assert ("the study ends" in person.see().page.text) == (on_failure == "screen_out")
    for _ in range(2):
        person.send(person.see().page, choice="my-own")
    check, stands = CheckResponse.objects.get(), submission()
    assert (check.passed, check.answer) == (False, {"tries": ["my-own", "my-own"]})
    if on_failure == "go_on":
        assert (stands.state, stands.step_index) == ("in_progress", 2)
        return
    assert (stands.state, stands.outcome, stands.reserved_until) == ("ended", "screened_out", None)
    assert "it ends here" in person.see().page.text


# --- conditions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("chosen", "asked"), [("friend", True), ("panel", False)])
def test_a_step_is_asked_if_its_condition_holds(take_part, chosen, asked) -> None:  # type: ignore[no-untyped-def]
    person = take_part(
        [choice(), free_text(show_if={"step": "heard", "is": "friend"}), "rating", "debrief"]
    )
    person.send(person.see().page, choice=chosen)
    assert submission().step_index == (1 if asked else 2)
    # Whoever sends the page that was passed over stores nothing.
    person.send(person.see().page, text="Well")
    assert StepAnswer.objects.filter(key="thoughts").exists() is asked
    shown = person.see().html
    assert f'max="4" value="{3 - asked}"' in shown


def test_a_condition_reads_checks_demographics_and_language(take_part) -> None:  # type: ignore[no-untyped-def]
    flow = [
        "demographics",
        instructed(),
        free_text("old", show_if={"question": "age", "at_least": 60}),
        free_text("failed", show_if={"step": "read-this", "is": "failed"}),
        free_text("spanish", show_if={"visit": "language", "is": "es"}),
        free_text("english", show_if={"not": {"visit": "language", "is": "es"}}),
        "rating",
    ]
    person = take_part(flow)
    person.send(person.see().page)  # age 37
    person.send(person.see().page, choice="agree")
    seen = []
    while "text" in (page := person.see()).html and "textarea" in page.html:
        seen.append(submission().step_index)
        person.send(page.page, text="x")
    assert seen == [3, 5]


def test_a_declined_question_meets_no_condition(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part(
        ["demographics", free_text(show_if={"question": "age", "at_most": 200}), "rating"]
    )
    person.send(person.see().page, **{"answer-age": "", "decline-age": "1"})
    assert submission().step_index == 2


def test_a_check_that_a_condition_leaves_out_is_no_reason_for_doubt(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part([choice(), instructed(show_if={"step": "heard", "is": "friend"}), "rating"])
    person.send(person.see().page, choice="panel")
    person.go_on()
    assert (submission().checks_passed, submission().outcome) == (True, "completed")
    assert not CheckResponse.objects.exists()


def test_the_last_steps_may_be_passed_over(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part([choice(), "rating", free_text(show_if={"step": "heard", "is": "friend"})])
    person.send(person.see().page, choice="panel")
    person.go_on()
    assert submission().state == "finished"
    assert 'max="3" value="3"' in person.see().html


def test_steps_are_read_in_the_language_of_the_visit(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part(
        [choice(options=[*options("a"), {"value": "b", "text": texts("bee")}]), "rating"]
    )
    Submission.objects.update(language="es")
    page = at(person, "¿Dónde oyó hablar de esto?")
    assert "bee" in page.text  # no Spanish text: the instrument's own language


# --- the end --------------------------------------------------------------------------------------


def test_a_debrief_page_stands_before_the_end_and_not_again_after_it(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part(["rating", "debrief"])
    page = person.go_on(until=lambda page: page.heading == "What this was about")
    assert "language models" in page.text
    person.send(page)
    last = person.see().page
    assert last.heading == "Thank you. Your answers are saved."
    assert "What this was about" not in last.text


def test_withdrawal_erases_the_answers_of_steps(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part([choice(), free_text(), "rating"])
    person.send(person.see().page, choice="friend")
    person.send(person.see().page, text="A secret")
    withdraw_submission(submission=submission())
    assert not StepAnswer.objects.exists()


def test_rating_pages_say_which_group_of_how_many_they_are_about(take_part) -> None:  # type: ignore[no-untyped-def]
    person = take_part(["consent", "instructions", "rating", "group_name", "rating", "repeat"])
    started = timezone.now()
    assert "You rate 2 groups" in person.see().page.text
    person.send(person.see().page)
    seen, places = 1, []
    while (page := person.see().page).fields.get("step"):
        seen += 1
        places += re.findall(r"Group (\d) of (\d)", page.text)
        person.send(page)
    # Consent says that a group comes twice: its second page is none of the two.
    assert places == [("1", "2"), ("2", "2")]
    assert seen == 6
    assert submission().finished_at is not None
    assert submission().finished_at >= started
