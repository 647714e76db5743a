"""A study's link: who may start, who goes on, and that looking costs nothing."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import (
    GroupAssignment,
    Panel,
    Participant,
    ParticipantIdentity,
    Study,
    StudyStatus,
    Submission,
)
from annotation.studies.lifecycle import archive_study, close_study, pause_study
from tests.annotation.survey.conftest import PersonMaker, StudyMaker
from tests.annotation.survey.participants import Person

pytestmark = [pytest.mark.django_db, pytest.mark.services]

PID = "5f00000000000000000000aa"


def assert_nothing_stored() -> None:
    for model in (Participant, ParticipantIdentity, Submission, GroupAssignment):
        assert not model.objects.exists()


def prolific_link(study: Study, pid: str = PID, session: str = "6a01") -> str:
    return f"{study.get_absolute_url()}?PROLIFIC_PID={pid}&STUDY_ID=s1&SESSION_ID={session}"


def test_looking_at_the_link_allocates_nothing(study, make_person) -> None:
    shown = make_person().connection.get(study.get_absolute_url())
    assert shown.status == 200
    assert study.title in shown.html
    assert "About 10 minutes" in shown.html
    assert "$2.00" in shown.html
    assert "lab@example.org" in shown.html
    assert_nothing_stored()


def test_start_creates_one_submission_bound_to_the_frozen_instrument(study, person) -> None:
    submission = Submission.objects.get()
    assert submission.instrument == study.instruments.get()
    assert person.path == f"/r/{submission.token}/"
    assert submission.participant.identities.get().panel == Panel.LINK
    rated = submission.assignments.filter(is_repeat=False)
    assert sorted(rated.values_list("position", flat=True)) == [1, 2, 3, 4]
    assert rated.values("group").distinct().count() == 4
    repeat = submission.assignments.get(is_repeat=True)
    last = rated.get(position=4)
    assert repeat.position == 5
    assert repeat.group_id in rated.values_list("group", flat=True)
    assert repeat.group_id != last.group_id


def test_draft_of_a_new_version_is_not_shown_before_it_is_frozen(study, make_person) -> None:
    study.instruments.create(version=2, flow=["rating"])
    make_person().start(study.get_absolute_url())
    assert Submission.objects.get().instrument.version == 1


def test_same_browser_goes_on_with_its_submission(study, person) -> None:
    again = Person(person.connection, person.rate)
    again.start(study.get_absolute_url())
    assert again.path == person.path
    assert Submission.objects.count() == 1


def test_another_browser_is_another_participant(study, person, make_person) -> None:
    other = make_person()
    other.start(study.get_absolute_url())
    assert other.path != person.path
    assert Participant.objects.count() == 2


def test_double_click_without_cookies_starts_once(study, make_person) -> None:
    someone = make_person(keeps_cookies=False)
    page = someone.connection.get(study.get_absolute_url()).page
    first = someone.connection.post(page.action, page.fields)
    second = someone.connection.post(page.action, page.fields)
    assert first.location == second.location
    assert Submission.objects.count() == 1


def test_visit_goes_on_without_any_cookie(study, make_person) -> None:
    someone = make_person(keeps_cookies=False)
    someone.start(study.get_absolute_url())
    assert someone.go_on().title == "Finished"


def test_visitor_id_that_was_not_signed_here_is_not_taken(study, make_person) -> None:
    someone = make_person(keeps_cookies=False)
    someone.connection.post(study.get_absolute_url(), {"visitor": "somebody-else:forged"})
    identity = ParticipantIdentity.objects.get()
    assert identity.external_id != "somebody-else"


def test_visitor_id_of_one_study_means_nothing_in_another(study, make_study, make_person) -> None:
    someone = make_person()
    other = make_study()
    sent = someone.connection.get(study.get_absolute_url()).page.fields
    someone.connection.post(other.get_absolute_url(), sent)
    signed_for_first = sent["visitor"].partition(":")[0]
    assert ParticipantIdentity.objects.get().external_id != signed_for_first


def test_prolific_ids_travel_in_the_form_and_never_in_later_addresses(
    make_study: StudyMaker, make_person: PersonMaker
) -> None:
    study = make_study(panel=Panel.PROLIFIC)
    someone = make_person()
    started = someone.start(prolific_link(study))
    assert PID not in started.location
    identity = ParticipantIdentity.objects.get()
    assert (identity.panel, identity.external_id, identity.session_id) == ("prolific", PID, "6a01")
    assert PID not in someone.see().html
    assert PID not in str(identity)


def test_the_browser_that_started_keeps_its_visit(make_study, make_person) -> None:
    study = make_study(panel=Panel.PROLIFIC)
    phone = make_person()
    phone.start(prolific_link(study))
    first = phone.path
    assert "Your answers" in phone.connection.get(prolific_link(study)).html
    phone.start(prolific_link(study, session="6a02"))
    assert phone.path == first
    # Prolific pays for the session in which the visit ends.
    assert ParticipantIdentity.objects.get().session_id == "6a02"


def test_pressing_start_twice_leads_to_the_same_visit_without_cookies(
    make_study, make_person
) -> None:
    study = make_study(panel=Panel.PROLIFIC)
    hasty = make_person(keeps_cookies=False)
    shown = hasty.connection.get(prolific_link(study))
    sent = [hasty.connection.post(shown.page.action, dict(shown.page.fields)) for _ in range(2)]
    assert sent[0].location == sent[1].location == f"/r/{Submission.objects.get().token}/"


def test_the_same_panel_id_in_a_second_study_is_another_visit_that_tells_nothing_of_the_first(
    make_study, make_person
) -> None:
    first, second = (make_study(panel=Panel.PROLIFIC) for _ in range(2))
    person = make_person()
    person.start(prolific_link(first))
    path = person.path
    person.go_on(until=lambda page: bool(page.lines))
    landing = person.connection.get(prolific_link(second))
    assert path not in landing.html
    assert "Start" in landing.html
    person.start(prolific_link(second))
    assert person.path != path
    assert (first.submissions.count(), second.submissions.count()) == (1, 1)
    participants = set(Submission.objects.values_list("participant", flat=True))
    identities = list(ParticipantIdentity.objects.order_by("pk"))
    assert [identity.study for identity in identities] == [first, second]
    assert {identity.participant_id for identity in identities} == participants
    assert PID not in person.see().html


def test_a_known_panel_id_shows_and_changes_nothing(make_study, make_person) -> None:
    study = make_study(panel=Panel.PROLIFIC)
    phone = make_person()
    phone.start(prolific_link(study))
    phone.go_on(until=lambda page: bool(page.lines))
    before = Submission.objects.values().get()
    for session in ("6a01", "6a02"):
        other = make_person()
        fields = {"PROLIFIC_PID": PID, "SESSION_ID": session}
        for answer in (
            other.connection.get(prolific_link(study, session=session)),
            other.connection.post(study.get_absolute_url(), fields),
            other.connection.post(study.get_absolute_url(), fields | {"holder": "x" * 32}),
        ):
            assert answer.status == 403
            assert answer.page.heading == "You started this study in another browser"
            assert before["token"] not in answer.html
    assert Submission.objects.values().get() == before
    assert ParticipantIdentity.objects.get().session_id == "6a01"
    assert phone.go_on().title == "Finished"


def test_who_lost_the_answer_to_the_button_goes_on(make_study, make_person) -> None:
    study = make_study(panel=Panel.PROLIFIC)
    person = make_person()
    shown = person.connection.get(prolific_link(study))
    fields = dict(shown.page.fields)
    # It arrives, but nothing comes back to this browser, not even a cookie.
    make_person().connection.post(shown.page.action, fields)
    assert person.start(prolific_link(study)).location == f"/r/{Submission.objects.get().token}/"


@pytest.mark.parametrize(
    "query",
    [
        "",
        "?PROLIFIC_PID=",
        "?PROLIFIC_PID={{%25PROLIFIC_PID%25}}",
        "?PROLIFIC_PID=a%00b",
        "?PROLIFIC_PID=" + "a" * 121,
        "?PROLIFIC_PID=a&PROLIFIC_PID=b",
        "?PROLIFIC_PID=a&SESSION_ID=%00",
    ],
)
def test_prolific_link_without_a_usable_id_is_refused(make_study, make_person, query) -> None:
    study = make_study(panel=Panel.PROLIFIC)
    link = study.get_absolute_url() + query
    shown = make_person().connection.get(link)
    assert shown.status == 400
    assert shown.page.heading == "This link is not complete"
    assert "Nothing was stored." in shown.html
    pressed = make_person().connection.post(study.get_absolute_url(), {})
    assert pressed.status == 400
    assert_nothing_stored()


@pytest.mark.parametrize("path", ["/s/", "/s/aaaaaaaaaaaa/", "/s/not-a-study/"])
def test_link_without_or_with_a_wrong_study_says_so(make_person, path) -> None:
    for answer in (make_person().connection.get(path), make_person().connection.post(path, {})):
        assert answer.status == 404
        assert answer.page.heading == "There is no study at this link"
    assert_nothing_stored()


@pytest.mark.parametrize(
    ("status", "code", "heading"),
    [
        (StudyStatus.DRAFT, 403, "This study has not started yet"),
        (StudyStatus.PAUSED, 403, "This study is paused"),
        (StudyStatus.CLOSED, 410, "This study has ended"),
        (StudyStatus.ARCHIVED, 410, "This study has ended"),
    ],
)
def test_study_that_is_not_open_says_why_and_stores_nothing(
    make_study, make_person, status, code, heading
) -> None:
    study = make_study(launched=status != StudyStatus.DRAFT)
    if status == StudyStatus.PAUSED:
        pause_study(study=study)
    if status in {StudyStatus.CLOSED, StudyStatus.ARCHIVED}:
        close_study(study=study)
    if status == StudyStatus.ARCHIVED:
        archive_study(study=study)
    connection_ = make_person().connection
    link = study.get_absolute_url()
    for answer in (connection_.get(link), connection_.post(link, {})):
        assert answer.status == code
        assert answer.page.heading == heading
        assert "Nothing was stored." in answer.html
    assert_nothing_stored()


@pytest.mark.parametrize("end", [pause_study, close_study])
def test_whoever_has_started_goes_on_after_the_study_stops(study, person, end) -> None:
    end(study=study)
    back = Person(person.connection, person.rate)
    assert back.start(study.get_absolute_url()).location == person.path
    assert person.go_on().title == "Finished"


def test_visit_that_lapsed_in_a_closed_study_is_told_so_and_stores_nothing(study, person) -> None:
    page = person.go_on(until=lambda page: bool(page.lines))
    close_study(study=study)
    Submission.objects.update(reserved_until=timezone.now() - timedelta(minutes=1))
    for answer in (person.see(), person.send(page)):
        assert answer.status == 410
        assert answer.page.heading == "This study has ended"
    assert Submission.objects.get().pages.count() == 2  # consent and instructions


def test_full_study_turns_away_and_stores_nothing(make_study, make_person) -> None:
    study = make_study(quota_per_group=1, panel=Panel.PROLIFIC)
    # Six groups: the first person holds four, the second the last two.
    for number in range(2):
        assert make_person().start(prolific_link(study, pid=f"p{number}")).status == 302
    assert Submission.objects.last().assignments.filter(is_repeat=False).count() in {2, 4}
    stored = Submission.objects.count(), Participant.objects.count()
    late = make_person()
    looked = late.connection.get(prolific_link(study, pid="late"))
    pressed = late.connection.post(study.get_absolute_url(), {"PROLIFIC_PID": "late"})
    for answer in (looked, pressed):
        assert answer.status == 403
        assert answer.page.heading == "All places are taken"
        # The panel's own code for a full study, so that the person is not kept waiting.
        assert study.completion_codes["quota_full"] in answer.html
    assert (Submission.objects.count(), Participant.objects.count()) == stored


def test_late_submission_gets_the_groups_that_are_left_and_finishes(
    make_study, make_person
) -> None:
    study = make_study(quota_per_group=1)
    make_person().start(study.get_absolute_url())
    late = make_person()
    late.start(study.get_absolute_url())
    submission = Submission.objects.latest("pk")
    assert submission.assignments.filter(is_repeat=False).count() == 2
    headings = []
    while (page := late.see().page).fields.get("step"):
        if page.lines:
            headings.append(page.title)
        late.send(page)
    # Two groups and one of them again; the title is the question.
    assert (len(headings), len(set(headings))) == (3, 2)
    submission.refresh_from_db()
    assert submission.outcome == "completed"
    kinds = set(submission.checks.values_list("kind", flat=True))
    assert kinds == {"group_name", "marked_traits", "repeated_group"}


def test_no_page_of_the_survey_may_be_cached_or_writes_on_get(study, person) -> None:
    client = Client()
    for path in (study.get_absolute_url(), person.path, person.path.replace("/r/", "/w/")):
        with CaptureQueriesContext(
            connection,
        ) as queries:
            response = client.get(path)
        assert "no-store" in response.headers["Cache-Control"]
        assert response.headers["Referrer-Policy"] == "same-origin"
        assert not [q for q in queries if not q["sql"].lstrip("(").startswith("SELECT")]
        assert not response.cookies


def test_rating_page_takes_few_queries_whatever_the_number_of_lines(study, person) -> None:
    person.go_on(until=lambda page: bool(page.lines))
    with CaptureQueriesContext(connection) as queries:
        person.see()
    # Visit with study and instrument; assignments. The frozen instrument is in memory.
    assert len(queries) == 2
