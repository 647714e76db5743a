"""Withdrawal: answers go, the payment record stays, and the participant can see it."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from annotation.models import (
    CheckResponse,
    DataDecision,
    DemographicAnswer,
    PageEvent,
    ParticipantIdentity,
    Rating,
    Study,
    Submission,
    SubmissionState,
)
from annotation.studies.quotas import count_quotas
from tests.annotation.survey.participants import Answer, Person

pytestmark = [pytest.mark.django_db, pytest.mark.services]

ANSWERS = (Rating, CheckResponse, DemographicAnswer, PageEvent)


def own_path(person: Person) -> str:
    return person.path.replace("/r/", "/w/")


def withdraw(person: Person) -> Answer:
    return person.connection.post(own_path(person), {"confirm": "yes"})


def test_withdrawal_after_the_end_erases_answers_and_keeps_the_payment(
    make_study, make_person
) -> None:
    study = make_study(decide_by_checks=True)
    person = make_person()
    person.start(study.get_absolute_url())
    person.go_on()
    assert withdraw(person).location == own_path(person)
    for model in ANSWERS:
        assert not model.objects.exists()
    submission = Submission.objects.get()
    assert submission.state == SubmissionState.WITHDRAWN
    assert submission.data_decision == DataDecision.EXCLUDED
    assert (submission.checks_passed, submission.self_agreement) == (None, None)
    # What the payment needs is still there.
    assert (submission.outcome, submission.pay_decision) == ("completed", "approved")
    assert ParticipantIdentity.objects.count() == 1
    decision = submission.reviews.first()
    assert (decision.data_decision, decision.pay_decision) == ("excluded", "approved")
    # The slots are open again.
    quotas = count_quotas(study, instrument=submission.instrument)
    assert sum(quota.taken for quota in quotas) == 0
    shown = person.connection.get(own_path(person))
    assert shown.page.heading == "Your answers are erased"
    assert study.completion_codes["completed"] in shown.html


@pytest.mark.parametrize("pages", range(10))
def test_withdrawal_works_on_every_page(person, pages) -> None:
    for _ in range(pages):
        person.send(person.see().page)
    page = person.see()
    assert own_path(person) in page.html  # “Leave the study”
    assert withdraw(person).status == 302
    for model in ANSWERS:
        assert not model.objects.exists()
    # A page that was still open on the participant's screen stores nothing any more.
    assert person.connection.post(person.path, person.fill(page.page)).status == 302
    for model in ANSWERS:
        assert not model.objects.exists()
    assert person.see().location == own_path(person)


def test_withdrawal_needs_the_confirmation(person) -> None:
    person.go_on()
    stored = Rating.objects.count()
    answer = person.connection.post(own_path(person), {})
    assert answer.status == 422
    assert "Tick the box to confirm. Nothing has been erased." in answer.page.text
    assert Rating.objects.count() == stored


def test_withdrawing_twice_changes_nothing_more(person) -> None:
    person.go_on()
    withdraw(person)
    withdraw(person)
    assert Submission.objects.get().reviews.count() == 1


def test_withdrawal_is_open_through_its_last_day(person) -> None:
    person.go_on()
    last_moment = timezone.now().replace(hour=23, minute=59)
    Study.objects.update(withdraw_until=last_moment.date())
    with time_machine.travel(last_moment, tick=False):
        assert withdraw(person).status == 302
    assert not Rating.objects.exists()


def test_withdrawal_after_its_last_day_names_the_contact(person) -> None:
    person.go_on()
    Study.objects.update(withdraw_until=timezone.now().date() - timedelta(days=1))
    stored = Rating.objects.count()
    page = person.connection.get(own_path(person))
    assert 'name="confirm"' not in page.html
    answer = withdraw(person)
    assert answer.status == 403
    assert "lab@example.org" in answer.page.text
    assert Rating.objects.count() == stored
    assert Submission.objects.get().state == SubmissionState.FINISHED


def test_completion_page_says_until_when(person) -> None:
    Study.objects.update(withdraw_until="2099-06-30")
    assert "have them erased until 30 June 2099" in person.go_on().text
