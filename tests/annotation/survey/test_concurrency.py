"""Simultaneous requests: threads with connections of their own on one database."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.db import connections
from django.http import QueryDict
from django.utils import timezone

from annotation.models import (
    LateReturn,
    PageEvent,
    Panel,
    Participant,
    Rating,
    Submission,
)
from annotation.studies.quotas import count_quotas
from annotation.survey.arrival import Arrival, start_submission
from annotation.survey.late_return import settle_return
from annotation.survey.step_submission import submit_step
from annotation.survey.visits.errors import StudyFull
from annotation.survey.withdrawal import withdraw_submission
from tests.annotation.survey.conftest import SCALES

pytestmark = pytest.mark.services

THREADS = 8


@pytest.fixture
def study(shared_database: str, make_study):
    return make_study(quota_per_group=2)


def at_once(*tasks: Callable[[], Any]) -> list[Any]:
    """Run the tasks in threads that begin together; return results, exceptions among them."""
    barrier = Barrier(len(tasks))

    def run(task: Callable[[], Any]) -> Any:
        barrier.wait()
        try:
            return task()
        except Exception as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(tasks)) as pool:
        return list(pool.map(run, tasks))


def test_one_person_who_starts_many_times_at_once_gets_one_submission(study) -> None:
    arrival = Arrival(Panel.LINK, "the same person", holder_key="of one browser")
    started = at_once(*[lambda: start_submission(study=study, arrival=arrival)] * THREADS)
    assert {submission.pk for submission in started} == {Submission.objects.get().pk}
    assert Participant.objects.count() == 1


def test_people_who_start_at_once_never_exceed_a_quota(study) -> None:
    # Six groups with two slots each: room for three people with four groups each.
    results = at_once(
        *[
            lambda name=name: start_submission(
                study=study, arrival=Arrival(Panel.LINK, f"person {name}")
            )
            for name in range(THREADS)
        ]
    )
    started = [result for result in results if isinstance(result, Submission)]
    turned_away = [result for result in results if isinstance(result, StudyFull)]
    assert (len(started), len(turned_away)) == (3, THREADS - 3)
    quotas = count_quotas(study, instrument=study.instruments.get())
    assert [quota.taken for quota in quotas] == [2] * 6
    assert Participant.objects.count() == 3


def first_lines(person) -> QueryDict:
    page = person.go_on(until=lambda page: bool(page.lines))
    sent = QueryDict(mutable=True)
    sent.update(person.fill(page))
    return sent


def test_copies_of_a_page_sent_at_once_are_stored_once(study, make_person) -> None:
    person = make_person()
    person.start(study.get_absolute_url())
    sent = first_lines(person)
    token = Submission.objects.get().token
    results = at_once(*[lambda: submit_step(token=token, sent=sent)] * THREADS)
    assert not [result for result in results if isinstance(result, Exception)]
    assert Rating.objects.count() == len(SCALES)
    assert PageEvent.objects.filter(step_kind="rating").count() == 1
    assert Submission.objects.get().step_index == 3


def test_withdrawal_and_a_page_sent_at_once_leave_no_answer(study, make_person) -> None:
    person = make_person()
    person.start(study.get_absolute_url())
    sent = first_lines(person)
    submission = Submission.objects.get()
    results = at_once(
        lambda: submit_step(token=submission.token, sent=sent),
        lambda: withdraw_submission(submission=submission),
        lambda: submit_step(token=submission.token, sent=sent),
    )
    assert not [result for result in results if isinstance(result, Exception)]
    assert not Rating.objects.exists()
    assert Submission.objects.get().state == "withdrawn"


def test_one_place_and_two_dozen_people_means_one_submission(shared_database, make_study) -> None:
    study = make_study(quota_per_group=1, groups=("elderly",), flow=["rating"])
    results = at_once(
        *[
            lambda name=name: start_submission(
                study=study, arrival=Arrival(Panel.LINK, f"person {name}")
            )
            for name in range(24)
        ]
    )
    assert sum(isinstance(result, Submission) for result in results) == 1
    assert sum(isinstance(result, StudyFull) for result in results) == 23
    assert Submission.objects.count() == Participant.objects.count() == 1


def test_people_who_come_back_while_others_start_never_exceed_a_quota(study) -> None:
    # Three people hold all twelve places and lapse; three others start while they come back.
    lapsed = [
        start_submission(study=study, arrival=Arrival(Panel.LINK, f"early {name}"))
        for name in range(3)
    ]
    Submission.objects.update(reserved_until=timezone.now() - timedelta(minutes=1))
    results = at_once(
        *[lambda one=one: settle_return(token=one.token) for one in lapsed],
        *[
            lambda name=name: start_submission(
                study=study, arrival=Arrival(Panel.LINK, f"late {name}")
            )
            for name in range(3)
        ],
        *[lambda one=one: settle_return(token=one.token) for one in lapsed],
    )
    faults = [r for r in results if isinstance(r, Exception) and not isinstance(r, StudyFull)]
    assert not faults
    quotas = count_quotas(study, instrument=study.instruments.get())
    assert [quota.taken for quota in quotas] == [2] * 6
    assert LateReturn.objects.count() == 3
    going = Submission.objects.filter(state="in_progress").count()
    assert going + Submission.objects.filter(outcome="quota_full").count() == (
        Submission.objects.count()
    )
