"""The way through: every page stored once, in the scale's own direction, and then never changed."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import (
    CheckKind,
    CheckResponse,
    DataDecision,
    DemographicAnswer,
    DemographicQuestion,
    Outcome,
    PageEvent,
    PayDecision,
    PoleSides,
    QuestionKind,
    Rating,
    Submission,
    SubmissionState,
)
from annotation.steps.rating import RatingStep
from tests.annotation.survey.conftest import GROUPS, SCALES
from tests.annotation.survey.participants import Person, spread

pytestmark = pytest.mark.django_db


def stored_ratings() -> dict[tuple[str, str, bool], float]:
    rows = Rating.objects.values_list(
        "assignment__group__plural", "scale__slug", "assignment__is_repeat", "value"
    )
    return {(group, scale, repeat): value for group, scale, repeat, value in rows}


def count_everything() -> tuple[int, ...]:
    return tuple(
        model.objects.count() for model in (Rating, CheckResponse, DemographicAnswer, PageEvent)
    )


def to_first_lines(person: Person):
    return person.go_on(until=lambda page: bool(page.lines))


@pytest.mark.services
def test_whole_visit_is_stored(study, person) -> None:
    last = person.go_on()
    assert last.heading == "Thank you. Your answers are saved."
    assert "You rated 4 groups on 16 lines. You rated one of them a second time." in last.text
    submission = Submission.objects.get()
    assert submission.state == SubmissionState.FINISHED
    assert submission.outcome == Outcome.COMPLETED
    assert submission.checks_passed is True
    assert submission.self_agreement == 1
    assert submission.consented_at is not None
    assert submission.finished_at is not None
    assert submission.reserved_until is None
    assert study.completion_codes["completed"] in last.text
    ratings = stored_ratings()
    assert len(ratings) == 5 * len(SCALES)
    assert all(value == spread(group, scale) for (group, scale, _repeat), value in ratings.items())
    assert list(submission.pages.values_list("step_kind", flat=True)) == [
        "consent", "instructions", "rating", "group_name", "rating", "marked_traits",
        "rating", "rating", "repeat", "demographics",
    ]  # fmt: skip
    assert all(page.opened_at <= page.submitted_at for page in submission.pages.all())
    assert DemographicAnswer.objects.get().value == 37


@pytest.mark.parametrize("sides", PoleSides.values)
def test_turned_lines_are_stored_in_the_scales_own_direction(
    make_study, make_person, sides
) -> None:
    study = make_study(instrument_options={"pole_sides": sides})
    turned = set()
    for _ in range(8):
        someone = make_person()
        someone.start(study.get_absolute_url())
        page = to_first_lines(someone)
        someone.send(page)
        sides_shown = {scale == f"{left}-{right}" for scale, (left, right) in page.lines.items()}
        if sides != PoleSides.PER_SCALE:
            assert len(sides_shown) == 1  # constant within a person
        submission = Submission.objects.latest("pk")
        rated = Rating.objects.filter(assignment__submission=submission)
        flipped = set(rated.values_list("flipped", flat=True).distinct())
        assert flipped == {not side for side in sides_shown}
        turned |= flipped
        for rating in rated.select_related("scale", "assignment__group"):
            assert rating.value == spread(rating.assignment.group.plural, rating.scale.slug)
            assert list(page.lines)[rating.position - 1] == rating.scale.slug
    # That both sides come up is tested over many seeds, see test_lines.
    if sides == PoleSides.FIXED:
        assert turned == {False}


def test_order_of_lines_is_the_same_on_every_page_of_a_visit(person) -> None:
    orders = set()
    while (page := person.see().page).fields.get("step"):
        if page.lines:
            orders.add(tuple(page.lines))
        person.send(page)
    assert len(orders) == 1


@pytest.mark.services
def test_page_sent_twice_is_stored_once(person) -> None:
    while (page := person.see().page).fields.get("step"):
        fields = person.fill(page)
        assert person.connection.post(page.action, fields).location == person.path
        after = count_everything()
        assert person.connection.post(page.action, fields).location == person.path
        assert count_everything() == after
    assert Rating.objects.count() == 5 * len(SCALES)


@pytest.mark.services
def test_page_passed_before_cannot_be_changed(person) -> None:
    page = to_first_lines(person)
    person.send(page)
    before = stored_ratings()
    changed = person.fill(page)
    changed |= {name: "3" for name in changed if name.startswith("value-")}
    assert person.connection.post(page.action, changed).status == 302
    assert stored_ratings() == before
    assert not person.see().page.lines  # the check that follows


@pytest.mark.parametrize("kind", ["missing", "untouched", "both"])
def test_missing_lines_come_back_with_the_rest_kept(person, kind) -> None:
    page = to_first_lines(person)
    fields = person.fill(page)
    lost = list(page.lines)[1]
    if kind in {"missing", "both"}:
        del fields[f"value-{lost}"]
    if kind in {"untouched", "both"}:
        fields[f"touched-{lost}"] = "0"  # as a browser sends a line that nobody has touched
    before = count_everything()
    answer = person.connection.post(page.action, fields)
    assert answer.status == 422
    left, right = page.lines[lost]
    assert "1 line is not answered yet." in answer.page.text
    assert f'href="#line-{lost}">{left} – {right}</a>' in answer.html
    assert answer.html.count("Not answered yet. ") == 2  # the line and the template
    for scale in set(page.lines) - {lost}:
        kept = fields[f"value-{scale}"]
        assert (
            f'name="value-{scale}" min="0" max="100" step="1" inputmode="numeric" ' in answer.html
        )
        assert f'value="{kept}"' in answer.html
    assert count_everything() == before
    assert Submission.objects.get().step_index == 2
    # The page that came back can be completed.
    assert person.connection.post(page.action, person.fill(answer.page)).status == 302
    assert Rating.objects.count() == len(SCALES)


def test_empty_page_names_every_line(person) -> None:
    page = to_first_lines(person)
    answer = person.connection.post(page.action, {"step": page.fields["step"]})
    assert answer.status == 422
    assert "4 lines are not answered yet." in answer.page.text
    assert not Rating.objects.exists()


@pytest.mark.parametrize(
    "value", ["101", "-1", "1000000000000", "50.5", "1e1", "nan", "fifty", "５０", "0x10", "5 0"]
)
def test_value_that_is_no_whole_number_from_0_to_100_is_named(person, value) -> None:
    page = to_first_lines(person)
    scale = next(iter(page.lines))
    answer = person.send(page, **{f"value-{scale}": value})
    assert answer.status == 422
    assert "is not possible. Write a whole number from 0 to 100." in answer.page.text
    assert "1 line is not right yet." in answer.page.text
    assert value[:20] in answer.page.text
    assert not Rating.objects.exists()
    assert Submission.objects.get().step_index == 2


@pytest.mark.services
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"value-cold-warm": ["10", "20"]}, "was sent twice"),
        ({"touched-cold-warm": ["1", "1"]}, "was sent twice"),
        ({"step": ["a", "b"]}, "was sent twice"),
        ({"value-dishonest-sincere": "10"}, "does not belong to this page"),
        ({"touched-dishonest-sincere": "1"}, "does not belong to this page"),
        ({"touched-cold-warm": "yes"}, "is neither 0 nor 1"),
    ],
)
def test_repeated_or_foreign_fields_are_refused(person, changes, message) -> None:
    page = to_first_lines(person)
    before = count_everything()
    answer = person.send(page, **changes)
    assert answer.status == 400
    assert answer.page.heading == "This page cannot be taken"
    assert message in answer.page.text
    assert "Nothing of it was stored" in answer.page.text
    assert count_everything() == before
    assert to_first_lines(person).lines  # the visit stands where it stood


def test_step_token_of_another_submission_is_refused(study, person, make_person) -> None:
    other = make_person()
    other.start(study.get_absolute_url())
    theirs, mine = to_first_lines(other), to_first_lines(person)
    before = count_everything()
    answer = person.send(mine, step=theirs.fields["step"])
    assert answer.status == 400
    assert "The page belongs to another person’s visit." in answer.page.text
    assert count_everything() == before


@pytest.mark.services
@pytest.mark.parametrize("token", ["", "x", "W10:forged", "a:b:c", "\x00"])
def test_forged_step_token_is_refused(person, token) -> None:
    page = to_first_lines(person)
    before = count_everything()
    answer = person.send(page, step=token)
    assert answer.status == 400
    assert "changed on its way" in answer.page.text
    assert count_everything() == before


@pytest.mark.services
@pytest.mark.parametrize("prefix", ["/r/", "/w/"])
@pytest.mark.parametrize("token", ["a" * 32, "x", "A-b_9"])
def test_unknown_visit_is_not_found(db, make_person, prefix, token) -> None:
    connection = make_person().connection
    for answer in (
        connection.get(f"{prefix}{token}/"),
        connection.post(f"{prefix}{token}/", {"confirm": "yes"}),
    ):
        assert answer.status == 404
        assert answer.page.heading == "There is nothing at this link"


def test_consent_is_needed(person) -> None:
    page = person.see().page
    answer = person.connection.post(page.action, {"step": page.fields["step"]})
    assert answer.status == 422
    assert "Tick the box if you agree." in answer.page.text
    assert not PageEvent.objects.exists()
    strange = person.send(page, answer="perhaps")
    assert strange.status == 400


@pytest.mark.services
def test_declining_ends_the_visit_and_frees_its_groups(make_study, make_person) -> None:
    study = make_study(quota_per_group=1, panel="prolific")
    link = study.get_absolute_url()
    someone = make_person()
    someone.start(f"{link}?PROLIFIC_PID=a")
    page = someone.see().page
    assert (
        someone.connection.post(
            page.action, {"step": page.fields["step"], "answer": "decline"}
        ).status
        == 302
    )
    ended = someone.see()
    assert ended.page.heading == "You are not taking part"
    assert study.completion_codes["no_consent"] in ended.html
    submission = Submission.objects.get()
    assert (submission.state, submission.outcome) == ("ended", Outcome.NO_CONSENT)
    assert submission.consented_at is None
    # All six slots are free again: two more people get four and two groups.
    for pid in ("b", "c"):
        assert make_person().start(f"{link}?PROLIFIC_PID={pid}").status == 302
    # Whoever declined stays declined, even with the agreeing page sent afterwards.
    assert someone.send(page).status == 302
    assert someone.see().page.heading == "You are not taking part"


def test_wrong_group_name_fails_the_check_and_changes_the_code_alone(
    make_study, make_person
) -> None:
    study = make_study(decide_by_checks=True)
    someone = make_person(recalls_group=lambda group: "Martians")
    someone.start(study.get_absolute_url())
    last = someone.go_on()
    submission = Submission.objects.get()
    assert submission.checks_passed is False
    assert submission.outcome == Outcome.FAILED_CHECK
    assert study.completion_codes["failed_check"] in last.text
    assert submission.data_decision == DataDecision.EXCLUDED
    assert submission.pay_decision == PayDecision.APPROVED
    check = submission.checks.get(kind=CheckKind.GROUP_NAME)
    assert check.passed is False
    assert check.answer == {"text": "Martians"}


def test_passing_every_check_is_accepted_where_the_study_decides_by_them(
    make_study, make_person
) -> None:
    someone = make_person()
    someone.start(make_study(decide_by_checks=True).get_absolute_url())
    someone.go_on()
    submission = Submission.objects.get()
    assert submission.data_decision == DataDecision.ACCEPTED
    assert submission.pay_decision == PayDecision.APPROVED


def test_wrong_words_fail_the_check(person) -> None:
    page = person.go_on(until=lambda page: "near" in page.options)
    fields = person.fill(page)
    wrong = next(key for key in page.options["near"] if key != fields["near"])
    person.send(page, near=wrong)
    person.go_on()
    check = CheckResponse.objects.get(kind=CheckKind.MARKED_TRAITS)
    assert check.passed is False
    assert check.answer["near"] == wrong
    assert check.expected["near"] == [fields["near"]]
    assert Submission.objects.get().outcome == Outcome.FAILED_CHECK


def test_word_that_was_not_offered_is_refused(person) -> None:
    page = person.go_on(until=lambda page: "near" in page.options)
    assert person.send(page, near="no-such:high").status == 400
    missing = person.connection.post(page.action, {"step": page.fields["step"], "near": ""})
    assert missing.status == 422
    assert missing.page.text.count("Choose one word.") == 2
    assert not CheckResponse.objects.filter(kind=CheckKind.MARKED_TRAITS).exists()


def test_words_are_not_asked_where_all_ratings_lie_in_the_middle(study, make_person) -> None:
    someone = make_person(rate=lambda group, scale: 50)
    someone.start(study.get_absolute_url())
    seen = []
    while (page := someone.see().page).fields.get("step"):
        seen.append(page.heading)
        someone.send(page)
    assert not [heading for heading in seen if heading.startswith("What did you say")]
    check = CheckResponse.objects.get(kind=CheckKind.MARKED_TRAITS)
    assert check.passed is None
    assert check.reason.startswith("Not asked")
    submission = Submission.objects.get()
    # Nothing failed, but not everything is known: a person has to look.
    assert submission.checks_passed is None
    assert submission.outcome == Outcome.COMPLETED
    assert submission.data_decision == DataDecision.WAITING


def test_repeated_group_that_is_rated_the_other_way_fails(study, make_person) -> None:
    def contrary(group: str, scale: str) -> int:
        rated_before = Rating.objects.filter(assignment__group__plural=group).exists()
        return 90 if rated_before else 10

    someone = make_person(rate=contrary)
    someone.start(study.get_absolute_url())
    someone.go_on()
    repeated = CheckResponse.objects.get(kind=CheckKind.REPEATED_GROUP)
    assert repeated.passed is False
    assert repeated.answer == {"matching": 0, "scales": len(SCALES)}
    assert Submission.objects.get().self_agreement == 0


@pytest.mark.services
@pytest.mark.parametrize(
    ("text", "status", "message"),
    [
        ("", 422, "Type a name."),
        ("   ", 422, "Type a name."),
        ("\x00\x01", 422, "Type a name."),
        ("x" * 121, 422, "The name has 121 characters. Write 120 or fewer."),
    ],
)
def test_group_name_that_cannot_be_stored_is_asked_again(person, text, status, message) -> None:
    page = person.go_on(until=lambda page: "group-name" in page.inputs)
    answer = person.send(page, **{"group-name": text})
    assert answer.status == status
    assert message in answer.page.text
    assert not CheckResponse.objects.exists()


def test_typed_text_is_shown_escaped(person) -> None:
    page = person.go_on(until=lambda page: "group-name" in page.inputs)
    answer = person.send(page, **{"group-name": "<script>alert(1)</script>" + "x" * 120})
    assert "<script>alert" not in answer.html


def to_demographics(person: Person):
    return person.go_on(until=lambda page: page.heading == "About you")


def test_demographics_can_be_left_out_wholly(person) -> None:
    page = to_demographics(person)
    person.connection.post(page.action, {"step": page.fields["step"]})
    assert not DemographicAnswer.objects.exists()
    assert Submission.objects.get().state == SubmissionState.FINISHED


@pytest.mark.services
def test_demographic_answers_are_stored_as_people_read_them(person) -> None:
    page = to_demographics(person)
    person.connection.post(
        page.action,
        {
            "step": page.fields["step"],
            "answer-gender": ["2", "4"],
            "answer-age": " 41 ",
            "answer-education": "decline",
            "own-gender": " a\x00gender ",
            "answer-race": "8",
            "own-race": "beside an answer that was not chosen",
            "answer-state": "32",
            "answer-years-in-state": "7",
            "decline-years-in-state": "1",
            "answer-area": "3",
        },
    )
    answers = {
        answer.question.slug: (answer.value, answer.declined, answer.own_words)
        for answer in DemographicAnswer.objects.select_related("question")
    }
    assert answers == {
        "gender": (["Woman", "I describe myself:"], False, "a gender"),
        "age": (41, False, ""),
        "race": (["Multiracial or biracial"], False, ""),
        "education": (None, True, ""),
        "state": ("New Mexico", False, ""),
        "years-in-state": (None, True, ""),
        "area": ("Rural", False, ""),
    }


def test_long_list_of_answers_is_one_field_with_prefer_not_to_say(person) -> None:
    page = to_demographics(person)
    assert page.options["answer-state"][:3] == ["", "decline", "1"]
    assert len(page.options["answer-state"]) == 2 + 51 + 2
    assert "decline-state" not in page.inputs
    person.connection.post(
        page.action, {"step": page.fields["step"], "answer-state": "decline", "own-gender": "x"}
    )
    answer = DemographicAnswer.objects.get()
    assert (answer.question.slug, answer.value, answer.declined) == ("state", None, True)


def test_words_of_ones_own_are_let_go_with_prefer_not_to_say(person) -> None:
    page = to_demographics(person)
    fields = {"answer-gender": "4", "own-gender": "agender", "decline-gender": "1"}
    person.connection.post(page.action, {"step": page.fields["step"], **fields})
    answer = DemographicAnswer.objects.get()
    assert (answer.value, answer.declined, answer.own_words) == (None, True, "")


@pytest.mark.services
def test_short_text_is_stored_on_one_line(make_study, make_person) -> None:
    link = make_study(flow=["consent", "rating", "demographics"]).get_absolute_url()
    DemographicQuestion.objects.filter(slug="area").update(kind=QuestionKind.TEXT, options=[])
    person = make_person()
    person.start(link)
    page = to_demographics(person)
    fields = {"answer-area": "by the\x00  sea:", "decline-area": ""}
    person.connection.post(page.action, {"step": page.fields["step"], **fields})
    assert DemographicAnswer.objects.get().value == "by the sea:"


@pytest.mark.services
@pytest.mark.parametrize(
    ("fields", "status", "message"),
    [
        ({"answer-age": "17"}, 422, "“17” is not possible. Write a whole number from 18 to 120."),
        ({"answer-age": "121"}, 422, "Write a whole number from 18 to 120."),
        ({"answer-age": "forty"}, 422, "“forty” is not possible. Write a whole number"),
        (
            {"answer-gender": "4", "own-gender": "x" * 201},
            422,
            "The answer has 201 characters. Write 200 or fewer.",
        ),
        ({"answer-area": "5"}, 400, "is not among the answers"),
        ({"answer-state": "54"}, 400, "is not among the answers"),
        ({"own-income": "x"}, 400, "does not belong to this page"),
        ({"answer-gender": ["1", "9"]}, 400, "is not among the answers"),
        ({"answer-gender": ["1", "1"]}, 400, "was sent twice"),
        ({"answer-area": ["1", "2"]}, 400, "was sent twice"),
        ({"answer-income": "1"}, 400, "does not belong to this page"),
    ],
)
def test_bad_demographic_answers_store_nothing(person, fields, status, message) -> None:
    page = to_demographics(person)
    answer = person.connection.post(
        page.action, {"step": page.fields["step"], "answer-years-in-state": "5", **fields}
    )
    assert answer.status == status
    assert message in answer.page.text
    assert not DemographicAnswer.objects.exists()
    assert Submission.objects.get().state == SubmissionState.IN_PROGRESS


@pytest.mark.services
def test_client_timings_go_to_ratings_and_page_event(person) -> None:
    page = to_first_lines(person)
    record = {
        "device": "phone",
        "pointer": "touch",
        "open_ms": 61_000,
        "visible_ms": 60_000,
        "restored": False,
        "lines": {
            "cold-warm": {"first_touch_ms": 1500, "changes": 2, "means": "pen"},
            "no-such-scale": {"first_touch_ms": 1, "changes": 1},
        },
    }
    person.send(page, client=json.dumps(record))
    rating = Rating.objects.get(scale__slug="cold-warm")
    assert (rating.first_touch_ms, rating.changes, rating.means) == (1500, 2, "pen")
    assert Rating.objects.get(scale__slug="poor-wealthy").first_touch_ms is None
    event = PageEvent.objects.get(step_kind=RatingStep.name)
    assert event.client == {
        "device": "phone",
        "pointer": "touch",
        "open_ms": 61_000,
        "visible_ms": 60_000,
        "restored": False,
    }


@pytest.mark.services
@pytest.mark.parametrize(
    ("client", "kept"),
    [
        ("{", {"left_out": "not valid"}),
        ('{"device": "watch"}', {"left_out": "not valid"}),
        ('{"name": "me"}', {"left_out": "not valid"}),
        ('{"open_ms": -1}', {"left_out": "not valid"}),
        ('{"open_ms": 1e99}', {"left_out": "not valid"}),
        ('{"lines": {"cold-warm": {"first_touch_ms": 99999999999}}}', {"left_out": "not valid"}),
        ('{"lines": {"cold-warm": {"means": "nose"}}}', {"left_out": "not valid"}),
        ('{"device": "' + "x" * 20_000 + '"}', {"left_out": "too long"}),
        ("", {}),
    ],
)
def test_bad_client_record_costs_no_answer(person, client, kept) -> None:
    page = to_first_lines(person)
    assert person.send(page, client=client).status == 302
    assert Rating.objects.count() == len(SCALES)
    assert PageEvent.objects.get(step_kind=RatingStep.name).client == kept


@pytest.mark.services
def test_whoever_comes_back_after_a_lapse_goes_on_and_holds_the_groups_again(person) -> None:
    Submission.objects.update(reserved_until=timezone.now() - timedelta(days=3))
    assert person.send(person.see().page).status == 302
    assert Submission.objects.get().reserved_until > timezone.now()
    assert person.go_on().title == "Finished"


def test_groups_are_named_as_the_instrument_writes_them(person) -> None:
    page = to_first_lines(person)
    assert page.heading.startswith("How do people in America view ")
    names = Submission.objects.get().instrument.groups.values_list("plural", flat=True)
    assert page.group in set(names)
    assert len(set(names)) == len(GROUPS)


@pytest.mark.services
@pytest.mark.parametrize("rule", ["hard", "soft"])
def test_declining_can_be_taken_back_until_the_window_closes(
    make_study, make_person, rule: str
) -> None:
    study = make_study(flow=["consent", "rating"], quota_rule=rule)
    someone = make_person()
    someone.start(study.get_absolute_url())
    page = someone.see().page
    decline = {"step": page.fields["step"], "answer": "decline"}
    someone.connection.post(page.action, decline)
    ended = someone.see()
    assert "You can go back and agree within" in ended.page.text
    assert someone.connection.post(someone.path, {"reconsider": "yes"}).status == 302
    again = someone.see().page
    assert again.heading == page.heading
    submission = Submission.objects.get()
    assert (submission.state, submission.outcome) == ("in_progress", "")
    assert submission.reserved_until > timezone.now()
    someone.connection.post(again.action, {"step": again.fields["step"], "answer": "decline"})
    past = timezone.now() - timedelta(minutes=study.reservation_minutes + 1)
    submission.pages.update(submitted_at=past)
    assert "You can go back" not in someone.see().page.text
    someone.connection.post(someone.path, {"reconsider": "yes"})
    assert someone.see().page.heading == "You are not taking part"
