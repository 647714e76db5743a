"""What the study's page shows beside the overview, derived by hand from what was stored."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from django.utils import timezone

from annotation.instruments.versions import create_version
from annotation.models import CheckKind, PageEvent, Study, Submission, SubmissionState
from annotation.studies.dashboard import (
    EventKind,
    count_begun,
    count_devices,
    count_languages,
    count_leaving,
    list_events,
    load_dashboard,
)
from annotation.studies.overview import load_overview
from annotation.studies.quality.crowd import name_crowd
from annotation.studies.review_service import review_submission
from annotation.survey.withdrawal import withdraw_submission
from tests.annotation.studies.crowds import add_crowd
from tests.annotation.studies.people import make_study, make_submission

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make_study(quota_per_group=5)


def leaving(study: Study) -> dict[tuple[str, int], tuple[int, int, int]]:
    """Return (came, left, ended) by page, of pages at which somebody left."""
    pages = count_leaving(study, list(study.instruments.order_by("-version")))
    return {
        (page.kind, page.number): (page.came, page.left, page.ended) for page in pages if page.left
    }


def test_people_leave_where_their_visit_stopped(study: Study) -> None:
    add_crowd(study, 6)
    # The flow: consent, instructions, rating, name check, rating …
    add_crowd(study, 2, state="ended", outcome="no_consent", step_index=0, finished_at=None)
    lapsed = timezone.now() - timedelta(minutes=1)
    going = {"state": "in_progress", "finished_at": None}
    add_crowd(study, 3, step_index=4, reserved_until=lapsed, **going)
    add_crowd(study, 1, step_index=4, reserved_until=timezone.now() + timedelta(hours=1), **going)
    add_crowd(study, 1, state="withdrawn", step_index=2, finished_at=None)
    assert leaving(study) == {
        ("consent", 1): (13, 2, 2),
        ("rating", 1): (11, 1, 0),
        ("rating", 2): (10, 3, 0),
    }


def test_pages_of_an_older_version_count_with_those_of_the_same_name(study: Study) -> None:
    lapsed = timezone.now() - timedelta(minutes=1)
    going = {"state": "in_progress", "finished_at": None, "reserved_until": lapsed}
    add_crowd(study, 1, step_index=2, **going)
    version = create_version(study=study)
    version.flow = ["rating", "rating"]
    version.save()
    add_crowd(study, 1, step_index=0, **going)
    assert leaving(study) == {("rating", 1): (2, 2, 0)}


def test_a_rated_group_of_somebody_on_their_way_is_begun_until_the_reservation_lapses(
    study: Study,
) -> None:
    # Such a submission has four groups and has rated the first.
    going = make_submission(study, state=SubmissionState.IN_PROGRESS)
    first = going.assignments.get(position=1).group.slug
    make_submission(study)
    assert count_begun(study) == {first: 1}
    Submission.objects.filter(pk=going.pk).update(reserved_until=timezone.now())
    assert count_begun(study) == {}


def test_devices_are_those_of_the_first_page_sent(study: Study) -> None:
    add_crowd(study, 3)
    silent, switched = Submission.objects.all()[:2]
    PageEvent.objects.filter(submission=silent).update(client={})
    PageEvent.objects.filter(submission=switched, step_index__gt=0).update(
        client={"device": "desktop"}
    )
    assert count_devices(study, name_crowd(study)) == (("phone", 2), ("", 1))


def test_a_device_counts_before_and_after_its_owner_has_finished(study: Study) -> None:
    add_crowd(study, 2)
    add_crowd(study, 1, state="in_progress", finished_at=None)
    assert count_devices(study, name_crowd(study)) == (("phone", 3),)
    Submission.objects.update(state="finished", finished_at=timezone.now())
    add_crowd(study, 1)
    assert count_devices(study, name_crowd(study)) == (("phone", 4),)


def test_languages_are_those_of_people_who_gave_consent(study: Study) -> None:
    add_crowd(study, 2)
    add_crowd(study, 3, language="es")
    add_crowd(study, 4, language="fr", consented_at=None)
    assert count_languages(study) == (("es", 3), ("en", 2))


def test_the_last_events_come_first_and_name_nobody(study: Study) -> None:
    accepted = make_submission(study, minutes=30)
    withdrawn = make_submission(study, minutes=20)
    review_submission(
        submission=accepted, reviewer=None, data_decision="accepted", pay_decision="approved"
    )
    withdraw_submission(submission=withdrawn)
    events = list_events(study)
    assert [event.kind for event in events[:2]] == [EventKind.WITHDRAWN, EventKind.ACCEPTED]
    assert sorted(event.kind for event in events[2:]) == sorted(
        [EventKind.STARTED] * 2 + [EventKind.FINISHED] * 2
    )
    assert [event.at for event in events] == sorted((e.at for e in events), reverse=True)
    assert {field for event in events for field in vars(event)} == {"at", "kind"}


def test_the_rest_of_the_page_costs_seven_queries(study: Study, django_assert_num_queries) -> None:
    add_crowd(study, 12)
    instruments, crowd = list(study.instruments.all()), name_crowd(study)
    with django_assert_num_queries(8):
        load_dashboard(study, instruments, crowd)
    with django_assert_num_queries(7):
        load_dashboard(study, instruments, crowd)


# --- additions to the overview --------------------------------------------------------------------


def test_quartiles_against_numpy(study: Study) -> None:
    minutes = [4, 9, 10, 12, 13, 30]
    for each in minutes:
        make_submission(study, minutes=each)
    found = load_overview(study).pace.quartiles_seconds
    # numpy's default is type 7 of Hyndman and Fan too.
    assert found == pytest.approx(tuple(60 * np.percentile(minutes, [25, 75])))


def test_fewer_than_four_times_have_no_quartiles(study: Study) -> None:
    for each in (4, 9, 10):
        make_submission(study, minutes=each)
    assert load_overview(study).pace.quartiles_seconds is None


def test_checks_that_could_not_be_asked_are_counted_apart(study: Study) -> None:
    make_submission(study)
    unasked = make_submission(study, checks_passed=None)
    unasked.checks.filter(kind=CheckKind.MARKED_TRAITS).update(passed=None)
    found = {
        result.kind: (result.failed.n, result.not_asked) for result in load_overview(study).checks
    }
    assert found == {
        CheckKind.GROUP_NAME: (2, 0),
        CheckKind.MARKED_TRAITS: (1, 1),
        CheckKind.REPEATED_GROUP: (2, 0),
        None: (1, 1),
    }


def test_people_to_go_at_the_present_share_of_accepted_data(study: Study) -> None:
    for decision in ("accepted", "excluded"):
        review_submission(
            submission=make_submission(study),
            reviewer=None,
            data_decision=decision,
            pay_decision="approved",
        )
    # 25 groups times 5 wanted, 4 there: 121 missing, 4 by each person, every second one accepted.
    assert load_overview(study).people_to_go == 61
