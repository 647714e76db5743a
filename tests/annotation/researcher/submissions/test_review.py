"""The review queue and the page of one submission."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from annotation.imports.abc_ratings import import_abc_ratings
from annotation.models import (
    CheckKind,
    Rating,
    Review,
    Study,
    Submission,
    SubmissionState,
)
from annotation.studies.review_service import review_submission
from tests.annotation.researcher.conftest import log_in
from tests.annotation.researcher.studies.study_pages import text_of
from tests.annotation.studies.people import make_submission

pytestmark = pytest.mark.django_db

QUEUE = "admin:annotation_submission_changelist"


def review_page(submission: Submission) -> str:
    return reverse("admin:annotation_submission_review", args=[submission.pk])


def test_the_queue_begins_with_what_waits_the_oldest_first(study: Study, alice: User) -> None:
    newer = make_submission(study, minutes=10)
    older = make_submission(study, minutes=20)
    Submission.objects.filter(pk=older.pk).update(finished_at=older.started_at)
    going_on = make_submission(study, state=SubmissionState.IN_PROGRESS)
    page = log_in(alice).get(reverse(QUEUE)).content.decode()
    assert str(going_on) not in page
    assert page.index(str(older)) < page.index(str(newer))


@pytest.mark.parametrize(
    ("show", "expected"),
    [
        ("waiting", {"waiting"}),
        ("accepted", {"accepted"}),
        ("excluded", {"excluded"}),
        ("in-progress", {"in progress"}),
        ("ended", {"withdrawn"}),
        ("unpaid", {"waiting", "withdrawn"}),
        ("all", {"waiting", "accepted", "excluded", "in progress", "withdrawn"}),
        ("nonsense", {"waiting"}),
    ],
)
def test_filters_show_what_they_say(
    study: Study, alice: User, show: str, expected: set[str]
) -> None:
    made = {
        "waiting": make_submission(study),
        "accepted": make_submission(study),
        "excluded": make_submission(study),
        "in progress": make_submission(study, state=SubmissionState.IN_PROGRESS),
        "withdrawn": make_submission(study, state=SubmissionState.WITHDRAWN),
    }
    for name in ("accepted", "excluded"):
        review_submission(
            submission=made[name], reviewer=alice, data_decision=name, pay_decision="approved"
        )
    page = log_in(alice).get(f"{reverse(QUEUE)}?show={show}").content.decode()
    assert {name for name, submission in made.items() if str(submission) in page} == expected


def test_a_submission_is_found_by_the_beginning_of_its_name(study: Study, alice: User) -> None:
    one, other = make_submission(study), make_submission(study)
    Submission.objects.filter(pk=one.pk).update(public_id="aaaabbbbcccc")
    Submission.objects.filter(pk=other.pk).update(public_id="ddddeeeeffff")
    page = log_in(alice).get(f"{reverse(QUEUE)}?q=S-AAAA").content.decode()
    assert "S-aaaabbbbcccc" in page
    assert "S-ddddeeeeffff" not in page


def test_an_empty_queue_says_what_to_do(study: Study, alice: User) -> None:
    page = log_in(alice).get(reverse(QUEUE)).content.decode()
    assert "Submissions wait here once people have finished" in page


def test_the_page_shows_checks_ratings_and_what_was_noticed(study: Study, alice: User) -> None:
    submission = make_submission(
        study, failed=[CheckKind.GROUP_NAME, CheckKind.MARKED_TRAITS], minutes=10, value=73
    )
    last = Rating.objects.get(
        assignment__submission=submission, assignment__is_repeat=True, scale__slug="cold-warm"
    )
    last.value = 20
    last.save()
    page = log_in(alice).get(review_page(submission)).content.decode()
    words = text_of(page)
    group = submission.instrument.groups.all()[0].plural
    assert f"Name the group just rated “senior citizens” “{group}” Failed" in words
    assert "near: “powerless”, far: “powerless”" in words
    assert "near: “powerful”, far: “powerless”" in words
    assert "14 of 16 lines match at least 80 % Passed" in words
    assert "Lines at one place 5 of 5 pages nearly straight" in words
    assert "Took 10 min 00 s" in words
    # 73 and then 20: on different sides of 50 and 53 apart, so it is marked; 73 twice is not.
    assert "cold – warm 73 73 73 73 20 differs from the first rating" in words
    assert words.count("differs from the first rating") == 1
    # Ten pages in ten minutes.
    assert "Time on the page 1 min 00 s" in words


@pytest.mark.parametrize(
    ("decision", "data", "pay"),
    [("accept", "accepted", "approved"), ("exclude", "excluded", "approved")],
)
def test_a_decision_is_stored_and_leads_to_the_next(
    study: Study, alice: User, decision: str, data: str, pay: str
) -> None:
    first, second = make_submission(study, minutes=20), make_submission(study, minutes=10)
    response = log_in(alice).post(
        review_page(first), {"decision": decision, "reason": "Looked at every line."}
    )
    assert response["Location"] == review_page(second)
    first.refresh_from_db()
    assert (first.data_decision, first.pay_decision) == (data, pay)
    review = first.reviews.get()
    assert (review.reviewer, review.reason) == (alice, "Looked at every line.")


def test_after_the_last_one_the_study_opens(study: Study, alice: User) -> None:
    submission = make_submission(study)
    response = log_in(alice).post(review_page(submission), {"decision": "accept"})
    assert response["Location"] == reverse("admin:annotation_study_overview", args=[study.pk])


def test_rejecting_pay_for_a_memory_check_is_refused_and_says_why(
    study: Study, alice: User
) -> None:
    submission = make_submission(study, failed=[CheckKind.GROUP_NAME])
    Rating.objects.filter(assignment__submission=submission, position__lt=9).update(value=20)
    response = log_in(alice).post(
        review_page(submission),
        {"decision": "reject", "ground": "", "rejection_reason": "Wrong <b>name</b>."},
    )
    page = response.content.decode()
    assert response.status_code == 422
    assert "A failed check that rests on memory may exclude the data" in page
    assert "A failed memory check is not one of them." in page
    assert "Wrong &lt;b&gt;name&lt;/b&gt;." in page  # what was typed is kept
    assert not Review.objects.exists()


@pytest.mark.parametrize(
    ("sent", "status", "expected"),
    [
        (
            {"decision": "reject", "ground": "low_effort", "rejection_reason": " "},
            422,
            "needs a reason",
        ),
        (
            {"decision": "reject", "ground": "too_fast", "rejection_reason": "Fast."},
            422,
            "was not exceptionally fast",
        ),
        ({"decision": "burn"}, 422, "Choose one of the decisions."),
        ({}, 422, "Choose one of the decisions."),
    ],
)
def test_bad_decisions_are_refused(
    study: Study, alice: User, sent: dict[str, str], status: int, expected: str
) -> None:
    submission = make_submission(study)
    response = log_in(alice).post(review_page(submission), sent)
    assert response.status_code == status
    assert expected in response.content.decode()
    assert not Review.objects.exists()


def test_pay_is_rejected_with_ground_and_reason(study: Study, alice: User) -> None:
    submission = make_submission(study)
    client = log_in(alice)
    client.post(
        review_page(submission),
        {
            "decision": "reject",
            "ground": "low_effort",
            "rejection_reason": "Every line of every page at one place.",
        },
    )
    submission.refresh_from_db()
    assert (submission.data_decision, submission.pay_decision) == ("excluded", "rejected")
    words = text_of(client.get(review_page(submission)).content.decode())
    assert "Data excluded, pay rejected : Low effort throughout" in words.replace(
        "rejected:", "rejected :"
    )


def test_the_history_of_decisions_is_shown(study: Study, alice: User) -> None:
    submission = make_submission(study)
    client = log_in(alice)
    client.post(review_page(submission), {"decision": "exclude", "reason": "Too quick?"})
    client.post(review_page(submission), {"decision": "accept", "reason": "Fine after all."})
    words = text_of(client.get(review_page(submission)).content.decode())
    assert words.index("Fine after all.") < words.index("Too quick?")
    assert "alice" in words


def test_a_submission_in_progress_has_no_buttons(study: Study, alice: User) -> None:
    submission = make_submission(study, state=SubmissionState.IN_PROGRESS)
    client = log_in(alice)
    page = client.get(review_page(submission)).content.decode()
    assert "It is still in progress." in page
    assert 'name="decision"' not in page
    response = client.post(review_page(submission), {"decision": "exclude"})
    assert response.status_code == 422
    assert not Review.objects.exists()


def test_actions_of_the_list_ask_before_they_decide(study: Study, alice: User) -> None:
    submission = make_submission(study)
    response = log_in(alice).post(
        f"{reverse(QUEUE)}?show=all",
        {"action": "exclude_selected", "_selected_action": [submission.pk]},
    )
    assert "Exclude the data of this person and approve their pay?" in response.content.decode()
    assert not Review.objects.exists()


def test_an_imported_submission_shows_its_ratings_without_times(alice: User) -> None:
    content = b'{"a": {"women": {"cold - warm": "5"}, "men": {"cold - warm": "7"}}}'
    import_abc_ratings(content=content, file_name="ratings.json", owner=alice)
    words = text_of(log_in(alice).get(review_page(Submission.objects.get())).content.decode())
    assert "cold – warm 5 7" in words
    assert "Took" not in words
    assert "Imported as accepted." in words
