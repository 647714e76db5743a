"""The numbers of a study's main page, derived by hand from what was stored."""

from __future__ import annotations

import math

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from scipy.stats import binomtest

from annotation.common.proportions import estimate_proportion
from annotation.models import (
    CheckKind,
    DataDecision,
    Rating,
    Study,
    Submission,
    SubmissionState,
)
from annotation.studies.dashboard import load_dashboard
from annotation.studies.erasure import erase_answers
from annotation.studies.overview import load_overview
from annotation.studies.review_service import review_submission
from annotation.studies.submission_summary import Proposal, notice_submissions
from annotation.survey.withdrawal import withdraw_submission
from tests.annotation.studies.people import make_study, make_submission


@pytest.mark.parametrize(("count", "n"), [(0, 5), (31, 214), (5, 5), (1, 1), (88, 214)])
def test_wilson_interval_against_scipy(count: int, n: int) -> None:
    found = estimate_proportion(count, n)
    expected = binomtest(count, n).proportion_ci(confidence_level=0.95, method="wilson")
    assert found.share == pytest.approx(count / n)
    assert (found.low, found.high) == (
        pytest.approx(expected.low, abs=1e-12),
        pytest.approx(expected.high, abs=1e-12),
    )


def test_a_share_of_nothing_is_undefined() -> None:
    assert math.isnan(estimate_proportion(0, 0).share)
    with pytest.raises(ValueError, match="3 of 2 is no share"):
        estimate_proportion(3, 2)


def accept(submission: Submission) -> None:
    review_submission(
        submission=submission,
        reviewer=None,
        data_decision=DataDecision.ACCEPTED,
        pay_decision="approved",
    )


@pytest.fixture
def study(db: None) -> Study:
    """Ten people: four accepted, one excluded, one waiting, one withdrawn, three on the way."""
    study = make_study(quota_per_group=5, reward_cents=200)
    for minutes in (8, 9, 10, 11):
        accept(make_submission(study, minutes=minutes))
    excluded = make_submission(study, minutes=12, failed=[CheckKind.GROUP_NAME])
    review_submission(
        submission=excluded, reviewer=None, data_decision="excluded", pay_decision="approved"
    )
    make_submission(study, minutes=13, failed=[CheckKind.REPEATED_GROUP])
    withdrawn = make_submission(study, minutes=14)
    Rating.objects.filter(assignment__submission=withdrawn).delete()
    withdrawn.checks.all().delete()
    Submission.objects.filter(pk=withdrawn.pk).update(
        state=SubmissionState.WITHDRAWN, checks_passed=None, data_decision="excluded"
    )
    make_submission(study, state=SubmissionState.IN_PROGRESS)
    lapsed = make_submission(study, state=SubmissionState.IN_PROGRESS)
    Submission.objects.filter(pk=lapsed.pk).update(reserved_until=timezone.now())
    refused = make_submission(study, state=SubmissionState.ENDED)
    Submission.objects.filter(pk=refused.pk).update(step_index=0, consented_at=None)
    return study


def test_stages_count_people_and_shares_of_the_stage_before(study: Study) -> None:
    stages = {stage.key: (stage.count, stage.share) for stage in load_overview(study).stages}
    assert stages == {
        "started": (10, None),
        "consented": (9, 0.9),
        "rated": (9, 1.0),
        # Six finished and one more did before the answers were withdrawn.
        "finished": (7, 7 / 9),
        "reviewed": (5, 5 / 7),
        "accepted": (4, 0.8),
    }


def test_keys_come_from_the_rows(study: Study) -> None:
    overview = load_overview(study)
    assert overview.counts.rating_now == 1
    assert overview.counts.waiting == 1
    # 4 accepted submissions of 4 groups each; 25 groups times 5 wanted.
    assert (overview.ratings_accepted, overview.ratings_wanted) == (16, 125)
    assert overview.ratings_missing == 125 - 16
    # Finished ones: 8, 9, 10, 11, 12 and 13 minutes; the withdrawn one is left out.
    assert overview.pace.median_seconds == pytest.approx(10.5 * 60)
    # 200 cents for 10.5 minutes.
    assert overview.cents_an_hour == pytest.approx(200 * 60 / 10.5)
    assert overview.cents_approved == 5 * 200
    assert overview.cents_waiting == 200
    assert overview.pace.fast_limit is None


def test_checks_count_failures_among_those_asked(study: Study) -> None:
    failed = {
        result.kind: (result.failed.count, result.failed.n)
        for result in load_overview(study).checks
    }
    assert failed == {
        CheckKind.GROUP_NAME: (1, 6),
        CheckKind.MARKED_TRAITS: (0, 6),
        CheckKind.REPEATED_GROUP: (1, 6),
        None: (2, 6),
    }


def test_a_study_without_submissions_has_no_shares_and_no_checks(db: None) -> None:
    overview = load_overview(make_study())
    assert [stage.count for stage in overview.stages] == [0] * 6
    assert {stage.share for stage in overview.stages} == {None}
    assert overview.checks == ()
    assert overview.pace.median_seconds is None
    assert overview.cents_an_hour is None


def test_the_overview_costs_six_queries_whatever_the_size_and_four_once_it_is_known(
    study: Study,
) -> None:
    load_overview(study)  # from now on the frozen instrument is in memory
    for _ in range(12):
        make_submission(study)
    for expected in (6, 4):
        with CaptureQueriesContext(connection) as queries:
            load_overview(study)
        assert len(queries) == expected


def test_what_is_known_of_those_who_finished_follows_who_they_are(study: Study) -> None:
    def failed() -> dict[CheckKind | None, tuple[float, int]]:
        return {row.kind: (row.failed.count, row.failed.n) for row in load_overview(study).checks}

    before = load_overview(study)
    assert failed()[CheckKind.GROUP_NAME] == (1, 6)
    slow = make_submission(study, minutes=90, failed=[CheckKind.GROUP_NAME])
    assert failed()[CheckKind.GROUP_NAME] == (2, 7)
    assert load_overview(study).pace.durations == (*before.pace.durations, 90 * 60)
    assert load_overview(study).pace.median_seconds == 11 * 60
    withdraw_submission(submission=slow)
    after = load_overview(study)
    assert (after.pace, after.checks) == (before.pace, before.checks)


def test_answers_of_a_closed_study_are_not_kept_in_memory_when_they_are_erased(
    study: Study,
) -> None:
    study.closed_at = timezone.now()
    study.save()
    instruments = list(study.instruments.all())
    shown = load_overview(study)
    assert shown.checks
    assert load_dashboard(study, instruments, shown.crowd).devices
    for submission in study.submissions.all():  # as another process does
        erase_answers(submission, why="the period of retention is over")
    shown = load_overview(study)
    assert shown.checks == ()
    assert load_dashboard(study, instruments, shown.crowd).devices == ()
    assert len(shown.pace.durations) == 6


def test_groups_that_lag_behind_are_named(db: None) -> None:
    study = make_study(quota_per_group=4)
    for _ in range(3):
        accept(make_submission(study, groups=23))
    slow = load_overview(study).slow_groups
    assert [quota.open for quota in slow] == [4, 4]


# --- what is noticed -----------------------------------------------------------------------------


def notice(submission: Submission, fast_limit: float | None = None):
    return notice_submissions([submission], fast_limit=fast_limit)[0]


def spread_ratings(submission: Submission) -> Submission:
    """Give the ratings of a submission different places, so that no page is a straight line."""
    for number, rating in enumerate(Rating.objects.filter(assignment__submission=submission)):
        rating.value = (number * 13) % 100
        rating.save()
    return submission


@pytest.mark.django_db
def test_nothing_noticed_and_all_passed_proposes_to_accept() -> None:
    found = notice(spread_ratings(make_submission(make_study(), minutes=12)))
    assert (found.passed, found.asked, found.remarks) == (3, 3, ())
    assert found.proposal == Proposal.ACCEPT
    assert found.seconds == pytest.approx(720)


@pytest.mark.django_db
def test_a_typed_name_that_was_not_recognized_is_shown_for_a_closer_look() -> None:
    found = notice(spread_ratings(make_submission(make_study(), failed=[CheckKind.GROUP_NAME])))
    assert found.remarks == ("Named the group “senior citizens”",)
    assert (found.passed, found.asked) == (2, 3)
    assert found.proposal == Proposal.LOOK


@pytest.mark.django_db
def test_low_self_agreement_proposes_to_exclude_and_pay() -> None:
    found = notice(spread_ratings(make_submission(make_study(), failed=[CheckKind.REPEATED_GROUP])))
    assert found.remarks == ("Self-agreement under 80 %",)
    assert found.proposal == Proposal.EXCLUDE


@pytest.mark.django_db
def test_straight_lines_and_haste_ask_for_a_closer_look() -> None:
    found = notice(make_submission(make_study(), minutes=3), fast_limit=240)
    # Ten pages in three minutes: 18 s a page of 16 lines, just above a second a line.
    assert found.remarks == (
        "Exceptionally fast",
        "5 of 5 pages nearly straight; on the straightest 16 of 16 lines at 60, 16 in a row, "
        "spread 0.0",
    )
    assert found.proposal == Proposal.LOOK


@pytest.mark.django_db
def test_a_check_that_could_not_be_asked_asks_for_a_closer_look() -> None:
    submission = spread_ratings(make_submission(make_study(), checks_passed=None))
    submission.checks.filter(kind=CheckKind.MARKED_TRAITS).update(
        passed=None, reason="Not asked: every rating lies in the middle."
    )
    found = notice(submission)
    assert (found.passed, found.asked) == (2, 2)
    assert found.remarks == ("Not asked: every rating lies in the middle",)
    assert found.proposal == Proposal.LOOK


@pytest.mark.django_db
def test_noticing_costs_the_same_for_one_and_for_many(django_assert_num_queries) -> None:
    study = make_study()
    submissions = [make_submission(study) for _ in range(6)]
    # Checks and study; who has finished, times and flow for what is usual; pages, ratings, flow,
    # and ids. Nobody is asked for texts or came with an id.
    with django_assert_num_queries(9):
        notice_submissions(submissions, fast_limit=None)
