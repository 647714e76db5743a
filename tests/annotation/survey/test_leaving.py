"""Leaving before the end: the way back at the panel, what is erased, the receipt."""

from __future__ import annotations

import re

import pytest
from django.core.cache import cache
from django.utils import timezone

from annotation.models import (
    ActionKind,
    ActionState,
    DataDecision,
    Outcome,
    Panel,
    PanelAction,
    PanelRecord,
    PanelStatus,
    ParticipantIdentity,
    PayDecision,
    Review,
    Study,
    StudyStatus,
    Submission,
    SubmissionState,
    Withdrawal,
)
from annotation.panels.action_plan import propose_returns
from annotation.panels.identity_erasure import erase_settled_ids
from annotation.studies.quality import record_loader
from annotation.studies.quality.record_loader import load_records
from tests.annotation.survey.test_withdrawal import own_path, withdraw

pytestmark = [pytest.mark.django_db, pytest.mark.services]

PROLIFIC_LINK = "?PROLIFIC_PID=5f1e0000aa&STUDY_ID=s1&SESSION_ID=6a2b0000cc"


@pytest.fixture(autouse=True)
def _no_limits() -> None:
    cache.clear()


@pytest.fixture
def start(make_study, make_person, django_capture_on_commit_callbacks):
    """Return a starter of people who come from a panel, with what they left behind on the way."""

    def make(*, panel: str = Panel.PROLIFIC, **options):
        study = make_study(panel=panel, **options)
        person = make_person()
        query = PROLIFIC_LINK if panel == Panel.PROLIFIC else ""
        assert person.start(study.get_absolute_url() + query).status == 302
        return person

    return make


def see_own(person):
    return person.connection.get(own_path(person))


def test_withdrawing_midway_tells_how_to_return_the_submission(start) -> None:
    person = start()
    person.send(person.see().page)
    withdraw(person)
    shown = see_own(person)
    study = Submission.objects.get().study
    code = study.completion_codes[Outcome.NO_CONSENT]
    assert f"https://app.prolific.com/submissions/complete?cc={code}" in shown.html
    assert "open your submission of this study and return it" in shown.page.text
    # Nobody is owed anything: the panel is asked to return the place.
    reference = "6a2b0000cc"
    assert [item.reference for item in propose_returns(study).proposals] == [reference]


def test_a_study_without_that_code_leads_to_the_panels_list(start) -> None:
    person = start()
    Study.objects.update(completion_codes={"completed": "C1"})
    withdraw(person)
    assert 'href="https://app.prolific.com/submissions"' in see_own(person).html
    other = start(panel=Panel.MTURK)
    withdraw(other)
    assert 'href="https://worker.mturk.com/tasks"' in see_own(other).html


def test_who_was_approved_midway_is_paid_and_not_asked_to_return(start) -> None:
    person = start()
    Submission.objects.update(pay_decision=PayDecision.APPROVED)
    withdraw(person)
    study = Submission.objects.get().study
    assert propose_returns(study).people == 0
    assert "return it" not in see_own(person).page.text


def test_a_time_out_tells_how_to_return_the_submission(start) -> None:
    person = start()
    submission = Submission.objects.get()
    submission.study.status = StudyStatus.CLOSED
    submission.study.closed_at = timezone.now()
    submission.study.save()
    Submission.objects.update(reserved_until=None)
    cut_off = person.see()
    assert cut_off.status == 410
    assert 'href="https://app.prolific.com/submissions"' in cut_off.html
    Submission.objects.update(state=SubmissionState.ENDED, outcome=Outcome.TIMED_OUT)
    timed_out = person.see()
    assert 'href="https://app.prolific.com/submissions"' in timed_out.html
    Submission.objects.update(pay_decision=PayDecision.APPROVED)
    assert 'href="https://app.prolific.com/submissions"' not in person.see().html


def test_reviews_that_may_quote_answers_are_erased(start) -> None:
    person = start(decide_by_checks=True)
    person.go_on()
    submission = Submission.objects.get()
    reviewer = submission.study.owner or _reviewer()
    by_rule = submission.reviews.get().reason
    Review.objects.create(
        submission=submission,
        reviewer=reviewer,
        data_decision=DataDecision.EXCLUDED,
        pay_decision=PayDecision.REJECTED,
        pay_ground="low_effort",
        flags=[{"name": "too_fast", "why": "named the group “my neighbor Ann”"}],
        reason="Wrote “my neighbor Ann” about themselves.",
    )
    withdraw(person)
    reasons = set(Review.objects.values_list("reason", flat=True))
    assert reasons == {
        by_rule,
        "Erased: the participant withdrew.",
        "The participant withdrew; the answers are erased.",
    }
    assert not any(Review.objects.values_list("flags", flat=True))


def _reviewer():
    from django.contrib.auth.models import User

    return User.objects.create_user("alice", is_staff=True)


def test_caches_are_dropped_at_once(start, django_capture_on_commit_callbacks) -> None:
    person = start()
    person.go_on()
    submission = Submission.objects.get()
    load_records(submission.study, [submission])
    assert any(key[0] == submission.pk for key in record_loader._visits._kept)
    with django_capture_on_commit_callbacks(execute=True):
        withdraw(person)
    assert not any(key[0] == submission.pk for key in record_loader._visits._kept)


def test_panel_ids_are_erased_once_the_payment_is_settled(start) -> None:
    person = start(decide_by_checks=True)
    person.go_on()
    withdraw(person)
    submission = Submission.objects.get()
    action = PanelAction.objects.create(
        study=submission.study,
        submission=submission,
        kind=ActionKind.APPROVE,
        amount_minor=200,
        currency="USD",
        reference="6a2b0000cc",
        state=ActionState.SENT,
        try_at=timezone.now(),
    )
    assert erase_settled_ids() == 0  # the payment is on its way
    assert ParticipantIdentity.objects.exists()
    PanelAction.objects.create(
        study=submission.study,
        submission=submission,
        kind=ActionKind.BONUS,
        key="spring",
        amount_minor=100,
        currency="USD",
        reference="6a2b0000cc",
        state=ActionState.SENT,
        try_at=timezone.now(),
    )
    settled = {"state": ActionState.CONFIRMED, "settled_at": timezone.now()}
    PanelAction.objects.filter(kind=ActionKind.APPROVE).update(**settled)
    assert erase_settled_ids() == 0  # the bonus still is
    PanelAction.objects.update(**settled)
    assert erase_settled_ids() == 1
    assert erase_settled_ids() == 0
    assert not ParticipantIdentity.objects.exists()
    action.refresh_from_db()
    assert (action.reference, action.amount_minor) == ("", 200)
    assert Withdrawal.objects.get().ids_erased_at is not None


def test_panel_ids_of_a_returned_submission_are_erased(start) -> None:
    person = start()
    withdraw(person)
    now = timezone.now()
    assert erase_settled_ids() == 0
    PanelRecord.objects.create(
        submission=Submission.objects.get(),
        status=PanelStatus.RETURNED,
        status_at=now,
        seen_at=now,
    )
    assert erase_settled_ids() == 1
    assert not ParticipantIdentity.objects.exists()


def test_an_unpaid_study_erases_panel_ids_with_the_answers(start) -> None:
    withdraw(start(reward_cents=0))
    assert not ParticipantIdentity.objects.exists()


def test_the_receipt_says_when_and_how_much_and_never_who_or_what(start) -> None:
    person = start(decide_by_checks=True)
    person.go_on()
    assert person.connection.get(own_path(person) + "receipt.txt").status == 404
    withdraw(person)
    shown = see_own(person).page.text
    receipt = person.connection.get(own_path(person) + "receipt.txt")
    submission = Submission.objects.get()
    # Four groups and the repeated one on four lines each.
    for said in (f"S-{submission.public_id}", "20 ratings", f"{timezone.now():%Y}"):
        assert said in shown
        assert said in receipt.html
    assert "5f1e0000aa" not in receipt.html
    assert submission.token not in receipt.html


def test_an_unpaid_study_never_speaks_of_payment(make_study, make_person) -> None:
    study = make_study(reward_cents=0)
    person = make_person()
    landing = person.connection.get(study.get_absolute_url()).page.text
    assert "This study is not paid" in landing
    texts: list[str] = []
    person.start(study.get_absolute_url())
    while (page := person.see().page).fields.get("step"):
        texts += [page.text, see_own(person).page.text]
        person.send(page)
    texts += [page.text, see_own(person).page.text]
    withdraw(person)
    texts.append(see_own(person).page.text)
    about_money = [
        sentence
        for text in texts
        for sentence in text.split(".")
        if re.search(r"\b(pay|paid)", sentence.lower())  # the words, not letters of an address
    ]
    assert about_money == []
