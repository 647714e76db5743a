"""The review queue of a study: what it shows, in which order, and decisions about several."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from annotation.models import (
    CheckKind,
    GroupAssignment,
    PageEvent,
    Participant,
    Rating,
    Review,
    Study,
    StudyMembership,
    Submission,
    SubmissionState,
)
from annotation.studies.review_service import review_submission
from tests.annotation.researcher.conftest import log_in
from tests.annotation.researcher.studies.study_pages import text_of
from tests.annotation.studies.people import make_study, make_submission

pytestmark = pytest.mark.django_db

DECIDE = "admin:annotation_submission_decide"


def queue(study: Study, query: str = "") -> str:
    return f"{reverse('admin:annotation_submission_queue', args=[study.pk])}?{query}"


def vary(submission: Submission) -> Submission:
    """Give every line a place of its own, so that no page is straight."""
    ratings = list(Rating.objects.filter(assignment__submission=submission))
    for number, rating in enumerate(ratings):
        rating.value = (number * 37) % 101
    Rating.objects.bulk_update(ratings, ["value"])
    return submission


def shown(client: Client, address: str) -> list[str]:
    """Return the names of the submissions of a page, from the top down."""
    page = client.get(address).content.decode()
    return re.findall(r'class="mono" href="[^"]+">(S-[0-9a-z]{12})<', page)


def test_the_queue_shows_a_studys_own_submissions_with_flags_and_drawings(
    study: Study, alice: User
) -> None:
    straight = make_submission(study, failed=[CheckKind.REPEATED_GROUP])
    make_submission(make_study(owner=alice))
    page = log_in(alice).get(queue(study)).content.decode()
    words = text_of(page)
    assert f"{straight}" in words
    assert "2 of 3" in words
    assert "50 %" in words
    assert "Lines at one place : 5 of 5 pages nearly straight" in words
    assert "Self-agreement under 80 %" in words
    assert "1 submission" in words
    # Five pages of 16 lines, every mark at 60: 0.6 * (26 - 4) = 13.2 from each page's left end.
    marks = re.findall(r'class="strip-marks" d="([^"]+)"', page)
    assert len(marks) == 5
    assert marks[0].count("M13.2 ") == 16
    assert marks[1].count("M43.2 ") == 16
    assert "style=" not in re.search(r"<svg class=\"drawing strip.*?</svg>", page, re.DOTALL)[0]


@pytest.fixture
def three(study: Study) -> dict[str, Submission]:
    """Finished in this order: one careful and slow, one straight, one that failed two checks."""
    made = {
        "careful": vary(make_submission(study, minutes=30)),
        "straight": make_submission(study, minutes=20),
        "failed": vary(
            make_submission(
                study, minutes=10, failed=[CheckKind.MARKED_TRAITS, CheckKind.REPEATED_GROUP]
            )
        ),
    }
    for place, submission in enumerate(made.values()):
        Submission.objects.filter(pk=submission.pk).update(self_agreement=0.9 - 0.2 * place)
    return made


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["careful", "straight", "failed"]),
        ("sort=-finished", ["failed", "straight", "careful"]),
        ("sort=time", ["failed", "straight", "careful"]),
        ("sort=agreement", ["failed", "straight", "careful"]),
        ("sort=checks", ["failed", "careful", "straight"]),
        ("sort=-flags", ["straight", "careful", "failed"]),
        ("sort=proposal", ["failed", "straight", "careful"]),
        ("flag=any", ["straight"]),
        ("flag=straight_lining", ["straight"]),
        ("flag=speeding", []),
        ("flag=none", ["careful", "failed"]),
        ("proposal=exclude", ["failed"]),
        ("proposal=accept&sort=time", ["careful"]),
        ("show=accepted", []),
        ("show=nonsense&sort=nonsense&flag=x&page=x", ["careful", "straight", "failed"]),
    ],
)
def test_the_queue_is_chosen_and_ordered_by_its_address(
    study: Study, alice: User, three: dict[str, Submission], query: str, expected: list[str]
) -> None:
    assert shown(log_in(alice), queue(study, query)) == [str(three[name]) for name in expected]


def test_a_name_is_found_by_its_beginning(
    study: Study, alice: User, three: dict[str, Submission]
) -> None:
    name = str(three["straight"])
    assert shown(log_in(alice), queue(study, f"q={name[:8].upper()}")) == [name]


def test_pages_hold_twenty_five_and_one_beyond_the_last_is_the_last(
    study: Study, alice: User
) -> None:
    for _ in range(27):
        make_submission(study, groups=1)
    client = log_in(alice)
    assert len(shown(client, queue(study))) == 25
    assert len(shown(client, queue(study, "page=2"))) == 2
    assert len(shown(client, queue(study, "page=9&flag=any"))) == 2


def test_queries_do_not_grow_with_the_study(
    study: Study, alice: User, django_assert_max_num_queries: Any
) -> None:
    """Five hundred submissions, of which every one is looked at."""
    first = make_submission(study, groups=1)
    copy_submission(first, 499)
    client = log_in(alice)
    with django_assert_max_num_queries(32):
        response = client.get(queue(study, "sort=-flags"))
    assert response.context["queue"].total == 500
    with django_assert_max_num_queries(32):
        client.get(queue(study))


def copy_submission(submission: Submission, n: int) -> None:
    """Store ``n`` more submissions with the answers of one, quickly."""
    people = Participant.objects.bulk_create(Participant() for _ in range(n))
    values = {"finished_at": submission.finished_at, "state": submission.state}
    made = Submission.objects.bulk_create(
        Submission(
            study=submission.study, instrument=submission.instrument, participant=one, **values
        )
        for one in people
    )
    for assignment in submission.assignments.all():
        rows = GroupAssignment.objects.bulk_create(
            GroupAssignment(
                submission=one,
                group=assignment.group,
                position=assignment.position,
                is_repeat=assignment.is_repeat,
            )
            for one in made
        )
        ratings = list(assignment.ratings.all())
        Rating.objects.bulk_create(
            Rating(
                assignment=row,
                scale_id=rating.scale_id,
                value=rating.value,
                position=rating.position,
                flipped=False,
                changes=1,
            )
            for row in rows
            for rating in ratings
        )
    events = list(submission.pages.all())
    PageEvent.objects.bulk_create(
        PageEvent(
            submission=one,
            step_index=event.step_index,
            step_kind=event.step_kind,
            opened_at=event.opened_at,
            submitted_at=event.submitted_at,
            client={},
        )
        for one in made
        for event in events
    )


# --- decisions about several ---------------------------------------------------------------------


def decide(client: Client, decision: str, *submissions: Submission, **sent: str) -> Any:
    return client.post(
        reverse(DECIDE),
        {"decision": decision, "chosen": [item.pk for item in submissions], **sent},
        follow=True,
    )


def test_a_decision_says_how_many_people_and_what_money_before_it_is_done(
    study: Study, alice: User
) -> None:
    Study.objects.filter(pk=study.pk).update(reward_cents=250)
    chosen = [make_submission(study) for _ in range(3)]
    review_submission(
        submission=chosen[0], reviewer=alice, data_decision="excluded", pay_decision="approved"
    )
    client = log_in(alice)
    words = text_of(decide(client, "accept", *chosen).content.decode())
    # One of three was approved before: 2 times $2.50.
    assert "3 people, $5.00" in words
    assert "Rewards of the 2 whose pay was not approved before" in words
    assert "3 of them have flags." in words
    assert Review.objects.count() == 1
    words = text_of(
        decide(client, "accept", *chosen, confirmed="yes", reason="Looked.").content.decode()
    )
    assert "3 submissions decided." in words
    assert Submission.objects.filter(data_decision="accepted").count() == 3
    newest = chosen[0].reviews.first()
    assert (newest.reason, newest.reviewer) == ("Looked.", alice)
    assert [flag["name"] for flag in newest.flags] == ["straight_lining"]
    assert chosen[0].reviews.count() == 2


def test_no_page_of_an_unpaid_study_decides_about_pay(study: Study, alice: User) -> None:
    client = log_in(alice)
    submission = make_submission(study)
    review = reverse("admin:annotation_submission_review", args=[submission.pk])
    for cents in (250, 0):
        Study.objects.filter(pk=study.pk).update(reward_cents=cents)
        pages = [client.get(queue(study)), client.get(review), decide(client, "accept", submission)]
        pages.append(decide(client, "exclude", submission))
        for page in pages:
            asked = re.findall(r"<(?:button|h1|summary)[^>]*>([^<]*)", page.content.decode())
            assert any(" pay" in words for words in asked) == bool(cents), asked
    done = client.post(review, {"decision": "accept"}, follow=True).content.decode()
    assert "data accepted." in done


def test_what_cannot_be_decided_is_left_out_and_named(study: Study, alice: User) -> None:
    good = make_submission(study)
    going_on = make_submission(study, state=SubmissionState.IN_PROGRESS)
    withdrawn = make_submission(study, state=SubmissionState.WITHDRAWN)
    client = log_in(alice)
    words = text_of(decide(client, "accept", good, going_on, withdrawn).content.decode())
    assert "1 person, " in words
    assert "2 are left out:" in words
    words = text_of(
        decide(client, "accept", good, going_on, withdrawn, confirmed="yes").content.decode()
    )
    assert "1 submission decided." in words
    assert f"{going_on} is still in progress, expected one that has ended." in words
    assert f"The data of {withdrawn} cannot be accepted" in words
    assert Review.objects.get().submission == good


def test_pay_is_rejected_together_only_where_one_ground_holds_for_each(
    study: Study, alice: User
) -> None:
    straight = [make_submission(study), make_submission(study)]
    careful = vary(make_submission(study))
    client = log_in(alice)
    words = text_of(decide(client, "reject", *straight, careful).content.decode())
    assert "No ground applies to all of them." in words
    refused = decide(
        client, "reject", *straight, careful, confirmed="yes", ground="low_effort", reason="Low."
    )
    assert refused.status_code == 422
    assert not Review.objects.exists()
    page = decide(client, "reject", *straight).content.decode()
    assert re.findall(r'<option value="(\w+)"', page) == ["low_effort"]
    without = decide(client, "reject", *straight, confirmed="yes", ground="low_effort")
    assert without.status_code == 422
    assert "needs a reason" in without.content.decode()
    decide(client, "reject", *straight, confirmed="yes", ground="low_effort", reason="All alike.")
    assert Submission.objects.filter(pay_decision="rejected").count() == 2


def test_one_person_is_not_spoken_of_as_several(study: Study, alice: User) -> None:
    client = log_in(alice)
    words = text_of(decide(client, "reject", make_submission(study)).content.decode())
    assert "Exclude the data of this person and reject their pay?" in words
    assert "They are not paid, and are told the reason. The submission has a flag." in words
    assert "all of them" not in words
    words = text_of(decide(client, "reject", vary(make_submission(study))).content.decode())
    assert "None of the grounds that panels allow applies. The pay cannot be rejected." in words


def test_who_may_only_look_decides_nothing(study: Study, alice: User, charlie: User) -> None:
    submission = make_submission(study)
    outsider = log_in(charlie)
    assert outsider.get(queue(study)).status_code == 404
    decide(outsider, "accept", submission, confirmed="yes")
    StudyMembership.objects.create(study=study, user=charlie, role="viewer")
    page = outsider.get(queue(study)).content.decode()
    assert str(submission) in page
    assert 'name="decision"' not in page
    words = text_of(decide(outsider, "accept", submission, confirmed="yes").content.decode())
    assert "You may see" in words
    assert not Review.objects.exists()


@pytest.mark.parametrize(
    ("decision", "expected"),
    [("burn", "Choose one of the decisions."), ("", "Choose one of the decisions.")],
)
def test_what_is_no_decision_is_refused(
    study: Study, alice: User, decision: str, expected: str
) -> None:
    response = decide(log_in(alice), decision, make_submission(study), confirmed="yes")
    assert expected in response.content.decode()
    assert not Review.objects.exists()


def test_one_comes_back_to_the_queue_as_it_was(study: Study, alice: User) -> None:
    submission = make_submission(study)
    response = log_in(alice).post(
        reverse(DECIDE),
        {
            "decision": "accept",
            "chosen": submission.pk,
            "confirmed": "yes",
            "back": "flag=any&sort=-flags&next=https://elsewhere.example",
        },
    )
    assert response["Location"] == queue(study, "flag=any&sort=-flags")


def test_the_empty_queue_says_what_to_do(study: Study, alice: User) -> None:
    page = log_in(alice).get(queue(study)).content.decode()
    assert "Submissions wait here once people have finished" in page
