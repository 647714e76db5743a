"""The participant's own page: every answer is shown and can be taken along, and nobody is named."""

from __future__ import annotations

import csv
import io
import json
from datetime import timedelta

import pytest

from annotation.models import (
    Outcome,
    PageEvent,
    ParticipantIdentity,
    Rating,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.survey.visits.client_record import ClientRecord, LineRecord
from annotation.survey.visits.visit import Visit
from tests.annotation.survey.flows import choice, free_text
from tests.annotation.survey.participants import Person, spread

pytestmark = pytest.mark.django_db

FLOW = ["consent", choice(), free_text(), "rating", "group_name", "demographics"]


@pytest.fixture
def person(make_study, make_person) -> Person:
    """Somebody who has answered everything; the text looks like a formula."""
    study = make_study(flow=FLOW, scales=("cold-warm", "poor-wealthy"))
    person: Person = make_person()
    assert person.start(study.get_absolute_url()).status == 302
    person.send(person.see().page, agree="yes")
    person.send(person.see().page, choice="panel")
    person.send(person.see().page, text="=1+1")
    person.go_on()
    return person


def own_path(person: Person) -> str:
    return person.path.replace("/r/", "/w/")


def read_json(person: Person) -> list[tuple[str, str, str]]:
    answer = person.connection.get(own_path(person) + "answers.json")
    rows = json.loads(answer.html)["answers"]
    return [(row["part"], row["question"], row["answer"]) for row in rows]


def test_every_answer_is_there_in_the_order_of_the_survey(person) -> None:
    rating = Rating.objects.select_related("assignment__group").first()
    group = rating.assignment.group
    rows = read_json(person)
    assert rows[:2] == [
        ("Where did you hear of this study?", "", "panel"),
        ("What did you think?", "", "=1+1"),
    ]
    asked = f"How do people in America view {group.plural}?"
    # As it stood on the page: a line that was turned is told from its left end, too.
    expected = {
        (
            asked,
            f"{line.left} (0) to {line.right} (100)",
            f"{line.to_shown(spread(group.plural, line.key)):g}",
        )
        for line in Visit(Submission.objects.get()).lines
    }
    assert set(rows[2:4]) == expected
    assert rows[4][:2] == ("A short check", "Which group did you just rate?")
    assert ("About you", "37") in {(part, answer) for part, _question, answer in rows[5:]}


def test_a_turned_line_is_told_as_it_was_drawn(person) -> None:
    seen = {}
    for seed in range(12):  # which lines are turned follows from it
        Submission.objects.update(seed=seed)
        (line,) = (one for one in Visit(Submission.objects.get()).lines if one.key == "cold-warm")
        (row,) = (row for row in read_json(person) if "cold" in row[1] and "warm" in row[1])
        seen[line.flipped] = row[1:]
    value = float(seen[False][1])
    assert seen == {
        False: ("cold (0) to warm (100)", f"{value:g}"),
        True: ("warm (0) to cold (100)", f"{100 - value:g}"),
    }


def test_a_group_that_was_asked_again_is_told_from_the_first_time(make_study, make_person) -> None:
    study = make_study(flow=["consent", "rating", "rating", "repeat"], scales=("cold-warm",))
    person = make_person()
    person.start(study.get_absolute_url())
    person.send(person.see().page, agree="yes")
    person.go_on()
    first, second, again = [part for part, _question, _answer in read_json(person)]
    assert again.removesuffix(" (asked again)") in {first, second}
    assert again.endswith(" (asked again)")


def test_page_and_table_say_the_same_as_the_document(person) -> None:
    rows = read_json(person)
    text = person.connection.get(own_path(person)).page.text
    document = json.loads(person.connection.get(own_path(person) + "answers.json").html)
    told = [(one["part"], one["question"], one["answer"]) for one in document["how_you_answered"]]
    for part, question, answer in [*rows, *told]:
        for words in (part, question, answer):
            assert words in text
    table = person.connection.get(own_path(person) + "answers.csv").html
    read = list(csv.reader(io.StringIO(table.removeprefix("\ufeff"))))
    assert read[0] == ["part", "question", "answer"]
    assert [tuple(row) for row in read[-len(told) :]] == told
    assert len(read) == len(rows) + len(told) + 1
    # A spreadsheet would run the text as a formula otherwise.
    assert ["What did you think?", "", "'=1+1"] in read


#: What is recorded, as the browser sends it, and the words for it on the participant's page.
RECORDED = {
    "visible_ms": (42_300, "You saw it for 42 seconds."),
    "device": ("phone", "You used a phone."),
    "pointer": ("touch", "You used touch or a pen."),
    "restored": (True, "You opened it again before you sent it."),
    "pastes": (2, "You pasted text 2 times."),
    "hidden_field": (True, "A program seems to have filled in a part of it."),
}
OF_LINES = {
    "first_touch_ms": (5_200, "First touched after 5 seconds."),
    "changes": (3, "Placed 3 times."),
    "means": ("key", "Last by keyboard."),
}


def test_what_was_recorded_of_how_somebody_answered_is_told(make_study, make_person) -> None:
    study = make_study(flow=["consent", "rating", "group_name"], scales=("cold-warm",))
    person = make_person()
    person.start(study.get_absolute_url())
    person.go_on()
    for event in Submission.objects.get().pages.all():
        event.submitted_at = event.opened_at + timedelta(seconds=61)
        event.client = {name: value for name, (value, _told) in RECORDED.items()} | {"open_ms": 6}
        event.save()
    Rating.objects.update(**{name: value for name, (value, _told) in OF_LINES.items()})
    path = own_path(person)
    told = json.loads(person.connection.get(path + "answers.json").html)["how_you_answered"]
    page = " ".join(words for _value, words in RECORDED.values())
    sent = f"You sent this page after 61 seconds. {page}"
    assert [row["answer"] for row in told if not row["question"]] == [sent] * 3
    (line,) = [row for row in told if row["question"]]
    assert line["answer"] == " ".join(words for _value, words in OF_LINES.values())
    assert [row["part"] for row in told][::3] == ["Before you start", "A short check"]
    shown = person.connection.get(path).page.text
    assert "How you answered" in shown
    assert sent in shown
    # Whatever else is recorded needs words here: `open_ms` is the same time by another clock.
    stored = {*ClientRecord.model_fields, *LineRecord.model_fields, "hidden_field"}
    assert stored - {"lines", "open_ms"} == {*RECORDED, *OF_LINES}


def test_who_declined_sees_and_erases_what_was_recorded(make_study, make_person) -> None:
    person = make_person()
    person.start(make_study(flow=["consent", "rating"]).get_absolute_url())
    person.send(person.see().page, answer="decline")
    shown = person.connection.get(own_path(person))
    assert "No answers of yours are stored, only the times of the pages" in shown.page.text
    assert "You sent this page after" in shown.page.text
    assert "payment" not in shown.page.text
    assert person.connection.post(own_path(person), {"confirm": "yes"}).status == 302
    assert not PageEvent.objects.exists()


def test_nothing_says_who_it_was(make_study, make_person) -> None:
    study = make_study(flow=["consent", "rating"])
    person = make_person()
    person.start(study.get_absolute_url())
    person.go_on()
    submission = Submission.objects.get()
    identities = ParticipantIdentity.objects.filter(participant=submission.participant)
    secrets = [submission.token, *identities.values_list("external_id", flat=True)]
    for kind in ("json", "csv"):
        written = person.connection.get(own_path(person) + f"answers.{kind}").html
        assert not any(secret in written for secret in secrets)


@pytest.mark.parametrize("origin", [SubmissionOrigin.LIVE, SubmissionOrigin.PREVIEW])
def test_timed_out_visit_shows_its_answers_and_can_be_erased(person, origin) -> None:
    Submission.objects.update(
        state=SubmissionState.ENDED,
        outcome=Outcome.TIMED_OUT,
        data_decision="waiting",
        origin=origin,
        is_counted=origin == SubmissionOrigin.LIVE,
    )
    text = person.connection.get(own_path(person)).page.text
    assert "Your visit has ended. What you answered before is shown here" in text
    assert own_path(person) in person.see().html
    assert person.connection.post(own_path(person), {"confirm": "yes"}).status == 302
    assert not Rating.objects.exists()
    assert read_json(person) == []
    shown = person.connection.get(own_path(person))
    assert shown.page.heading == "Your answers are erased"
    assert Submission.objects.get().outcome == "timed_out"


def test_wrong_link_and_unknown_kind_of_file_are_not_found(person) -> None:
    for path in ("/w/nobody/answers.json", own_path(person) + "answers.xml"):
        assert person.connection.get(path).status == 404
