"""Coming back after the reservation has lapsed: hard quotas stay exact, and people are told."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import (
    DataDecision,
    LateReturn,
    Outcome,
    PayDecision,
    QuotaRule,
    Rating,
    Submission,
    SubmissionState,
)
from annotation.studies.quotas import count_quotas
from annotation.survey.late_return import settle_return
from tests.annotation.survey.participants import Person

pytestmark = [pytest.mark.django_db, pytest.mark.services]

FLOW = ["consent", "rating", "rating", "repeat"]


def lapse(submission: Submission) -> None:
    Submission.objects.filter(pk=submission.pk).update(
        reserved_until=timezone.now() - timedelta(minutes=1)
    )


def groups_of(submission: Submission) -> list[str]:
    rows = submission.assignments.filter(is_repeat=False).order_by("position")
    return list(rows.values_list("group__slug", flat=True))


def taken(study) -> dict[str, int]:
    quotas = count_quotas(study, instrument=study.instruments.get())
    assert all(quota.taken <= quota.wanted for quota in quotas)
    return {quota.group.slug: quota.taken for quota in quotas}


@pytest.fixture
def study(make_study):
    """Two groups with one place each: whoever starts holds both."""
    return make_study(quota_per_group=1, groups=("elderly", "teenager"), flow=FLOW)


@pytest.fixture
def join(study, make_person):
    """Return a way to start in ``study``; the person and their submission."""

    def join(at=study) -> tuple[Person, Submission]:
        person = make_person()
        assert person.start(at.get_absolute_url()).status == 302
        return person, Submission.objects.latest("pk")

    return join


def is_rating(page) -> bool:
    return bool(page.lines)


def test_a_lapsed_visit_is_greeted_and_nothing_is_written_before_the_button(join) -> None:
    person, submission = join()
    lapse(submission)
    shown = person.see()
    assert (shown.status, shown.page.heading) == (200, "Welcome back")
    assert not LateReturn.objects.exists()
    assert person.connection.post(person.path, {"return": "yes"}).status == 302
    assert person.see().page.heading == "Before you start"
    assert LateReturn.objects.get().result == "kept"


def test_places_that_are_still_free_are_taken_again_with_the_page_that_was_sent(
    study, join
) -> None:
    person, submission = join()
    page = person.go_on(until=is_rating)
    opened = Submission.objects.get().step_opened_at
    lapse(submission)
    assert taken(study) == {"elderly": 0, "teenager": 0}
    assert person.send(page).status == 302
    assert Rating.objects.count() == 4
    assert taken(study) == {"elderly": 1, "teenager": 1}
    # The page was open all the time, and its time says so.
    assert submission.pages.get(step_kind="rating").opened_at == opened
    assert person.go_on().title == "Finished"


def test_nobody_rated_and_every_place_taken_is_a_full_study(study, join) -> None:
    early, submission = join()
    early.go_on(until=is_rating)
    lapse(submission)
    join()
    early.connection.post(early.path, {"return": "yes"})
    submission.refresh_from_db()
    assert (submission.state, submission.outcome) == (SubmissionState.ENDED, Outcome.QUOTA_FULL)
    assert "all places were taken" in early.see().page.text
    assert submission.pay_decision == PayDecision.WAITING
    assert taken(study) == {"elderly": 1, "teenager": 1}


@pytest.mark.parametrize(
    ("pays", "decision", "told"),
    [
        (True, PayDecision.APPROVED, "You are paid all the same."),
        (False, PayDecision.WAITING, "The researchers decide on your payment"),
    ],
)
def test_a_rated_group_whose_place_is_gone_ends_the_visit_and_pays_by_the_rule(
    make_study, join, pays, decision, told
) -> None:
    study = make_study(
        quota_per_group=1, groups=("elderly", "teenager"), flow=FLOW, pay_lost_places=pays
    )
    early, submission = join(study)
    early.send(early.go_on(until=is_rating))
    second = early.go_on(until=is_rating)
    lapse(submission)
    late, _other = join(study)
    assert early.send(second).status == 302  # a page that was open all the time
    submission.refresh_from_db()
    assert (submission.state, submission.outcome) == (SubmissionState.ENDED, Outcome.TIMED_OUT)
    assert (submission.data_decision, submission.pay_decision) == (DataDecision.EXCLUDED, decision)
    assert told in early.see().page.text
    assert Rating.objects.count() == 4  # those of the first page, kept apart
    assert submission.late_returns.get().result == "lost"
    assert late.go_on().title == "Finished"
    assert taken(study) == {"elderly": 1, "teenager": 1}


@pytest.fixture
def wide_study(make_study):
    """Four groups with one place each, two to rate: room for two people at a time."""
    return make_study(
        quota_per_group=1, groups=("elderly", "teenager", "veteran", "blind"), flow=FLOW
    )


def exchange(join, study) -> tuple[Person, Submission, list[str]]:
    """Let somebody lapse at their first rating page; a second and a third take their places, and
    the second leaves again. Return the first one and the groups that are free now."""
    early, submission = join(study)
    page = early.go_on(until=is_rating)
    early.last_seen = page  # type: ignore[attr-defined]
    second, left = join(study)
    lapse(submission)
    _third, third = join(study)
    assert set(groups_of(third)) == set(groups_of(submission))
    second.connection.post(second.path.replace("/r/", "/w/"), {"confirm": "yes"})
    return early, submission, sorted(groups_of(left))


def test_groups_that_are_gone_and_not_rated_are_exchanged_for_open_ones(wide_study, join) -> None:
    early, submission, free = exchange(join, wide_study)
    before = groups_of(submission)
    answer = early.send(early.last_seen)  # type: ignore[attr-defined]
    assert (answer.status, answer.page.heading) == (409, "You go on with another group")
    assert not Rating.objects.exists()
    assert sorted(groups_of(submission)) == free
    kept = submission.late_returns.get()
    assert (kept.result, kept.groups_before[:2]) == ("changed", before)
    repeat = submission.assignments.get(is_repeat=True)
    assert repeat.group.slug == groups_of(submission)[0]
    assert early.go_on().title == "Finished"
    assert set(taken(wide_study).values()) == {1}


def test_a_page_of_a_group_that_was_exchanged_is_never_stored_under_the_new_one(
    wide_study, join
) -> None:
    early, _submission, _free = exchange(join, wide_study)
    stale = early.last_seen  # type: ignore[attr-defined]
    early.connection.post(early.path, {"return": "yes"})
    assert early.send(stale).status == 302
    assert not Rating.objects.exists()
    assert early.see().page.group != stale.group


def test_a_group_without_a_substitute_is_left_out_and_the_visit_goes_on(make_study, join) -> None:
    study = make_study(quota_per_group=2, groups=("elderly", "teenager"), flow=FLOW)
    early, submission = join(study)
    early.send(early.go_on(until=is_rating))
    later = groups_of(submission)[1]
    lapse(submission)
    join(study)
    # The second place of the group that is not rated yet goes to somebody with that group alone.
    _other, other = join(study)
    other.assignments.exclude(group__slug=later).delete()
    assert early.see().page.heading == "Welcome back"
    early.connection.post(early.path, {"return": "yes"})
    assert groups_of(submission) == [submission.late_returns.get().groups_after[0]]
    assert early.go_on().title == "Finished"
    submission.refresh_from_db()
    assert submission.outcome == Outcome.COMPLETED
    assert taken(study) == {"elderly": 2, "teenager": 2}


def test_soft_quotas_and_visits_in_time_have_nothing_to_settle(make_study, join) -> None:
    study = make_study(quota_per_group=1, quota_rule=QuotaRule.SOFT)
    person, submission = join(study)
    assert settle_return(token=submission.token) is None
    lapse(submission)
    assert settle_return(token=submission.token) is None
    assert person.go_on().title == "Finished"
    assert not LateReturn.objects.exists()


def test_starting_again_by_the_link_takes_the_places_again_at_once(study, join) -> None:
    person, submission = join()
    lapse(submission)
    again = Person(person.connection, person.rate)
    assert again.start(study.get_absolute_url()).location == person.path
    assert again.see().page.heading == "Before you start"
    assert submission.late_returns.get().result == "kept"


def test_settling_twice_settles_once(join) -> None:
    _person, submission = join()
    lapse(submission)
    assert settle_return(token=submission.token) == "kept"
    assert settle_return(token=submission.token) is None
    assert LateReturn.objects.count() == 1
