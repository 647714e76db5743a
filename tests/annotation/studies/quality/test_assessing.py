"""Flags of stored submissions."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from annotation.models import (
    PageEvent,
    Rating,
    StepAnswer,
    Study,
    Submission,
    SubmissionState,
)
from annotation.studies.quality import FlagName, assess_submissions, count_flags
from annotation.survey.withdrawal import withdraw_submission
from tests.annotation.studies.people import make_study, make_submission
from tests.annotation.survey.flows import choice, free_text

pytestmark = pytest.mark.django_db


def names_of(submission: Submission) -> set[FlagName]:
    found = assess_submissions([submission])[submission.pk]
    return {flag.name for flag in found.flags}


def make_varied(study: Study, **options: Any) -> Submission:
    """Store a submission whose lines lie at different places."""
    submission = make_submission(study, **options)
    ratings = list(Rating.objects.filter(assignment__submission=submission))
    for number, rating in enumerate(ratings):
        rating.value = (number * 37) % 101
    Rating.objects.bulk_update(ratings, ["value"])
    return submission


def test_somebody_who_is_three_times_as_fast_as_ten_others_is_flagged() -> None:
    study = make_study(quota_per_group=100)
    usual = [make_varied(study, minutes=12) for _ in range(10)]
    fast = make_varied(study, minutes=4)
    assert names_of(usual[0]) == set()
    assert names_of(fast) == {FlagName.SPEEDING}
    counts = count_flags(study)
    assert (counts.finished, counts.flagged) == (11, 1)
    assert counts.by_name[FlagName.SPEEDING] == 1
    assert sum(counts.by_name.values()) == 1


def test_the_study_sets_the_thresholds() -> None:
    # 16 lines a page, five rating pages among ten pages of a minute each: 3.75 s a line.
    study = make_study(quality_thresholds={"seconds_per_line": 4})
    assert names_of(make_varied(study, minutes=10)) == {FlagName.HURRIED_PAGE}
    study.quality_thresholds = {"seconds_per_line": 3.5}
    study.save()
    assert names_of(Submission.objects.get()) == set()


@pytest.mark.parametrize(
    "thresholds",
    [
        pytest.param({"seconds_per_line": -1}, id="negative"),
        pytest.param({"speed": 2}, id="unknown-name"),
        pytest.param({"pastes": "many"}, id="no-number"),
        pytest.param([1], id="no-object"),
        pytest.param({"speed_index": float("nan")}, id="nan"),
    ],
)
def test_thresholds_are_validated(thresholds: Any) -> None:
    with pytest.raises(ValidationError, match="Threshold"):
        make_study(launched=False, quality_thresholds=thresholds)


def test_straight_lines_are_seen_also_where_sides_are_turned() -> None:
    study = make_study()
    turned, straight = (make_submission(study, minutes=10, value=70) for _ in range(2))
    # All handles at one place: on turned lines the stored value is the mirrored one. The same
    # values on lines that are not turned zigzag over the page.
    for submission in (turned, straight):
        for rating in Rating.objects.filter(assignment__submission=submission):
            rating.value = 30 if rating.position % 2 == 0 else 70
            rating.flipped = submission == turned and rating.position % 2 == 0
            rating.save()
    assert names_of(turned) == {FlagName.STRAIGHT_LINING}
    assert names_of(straight) == set()


def test_copied_texts_pastes_and_the_hidden_field_are_found() -> None:
    flow = ["consent", "rating", "rating", free_text(), choice()]
    study = make_study(flow=flow, quota_per_group=100)
    first, second, third = (make_varied(study, minutes=10, groups=2) for _ in range(3))
    text = "Groups are seen as newspapers show them."
    for submission, given in ((first, text), (second, text.upper()), (third, "I do not know.")):
        StepAnswer.objects.create(submission=submission, step_index=3, key="thoughts", value=given)
        # The same choice in each is no copied text, however long its name.
        StepAnswer.objects.create(
            submission=submission, step_index=4, key="heard", value="from-a-friend-of-a-friend"
        )
    PageEvent.objects.filter(submission=third, step_index=3).update(
        client={"pastes": 2, "hidden_field": True}
    )
    assert names_of(first) == names_of(second) == {FlagName.COPIED_TEXT}
    assert names_of(third) == {FlagName.PASTED_TEXT, FlagName.HIDDEN_FIELD}


def test_one_person_under_two_spellings_of_an_id_and_in_another_study() -> None:
    study, other = make_study(), make_study()
    first = make_varied(study, external_id="5f3a", minutes=10)
    second = make_varied(study, external_id=" 5F3A", minutes=10, first_group=5)
    third = make_varied(study, external_id="77aa", minutes=10, first_group=10)
    make_varied(other, external_id="77aa", minutes=10)
    assert names_of(first) == names_of(second) == {FlagName.SAME_IDENTITY}
    assert names_of(third) == {FlagName.OTHER_STUDIES}
    counts = count_flags(study)
    assert counts.flagged == 2  # to take part elsewhere is only a note
    assert counts.by_name[FlagName.OTHER_STUDIES] == 1


def test_a_submission_that_ends_before_it_starts_is_flagged() -> None:
    submission = make_varied(make_study(), minutes=10)
    submission.finished_at = submission.started_at - timedelta(seconds=2)
    assert names_of(submission) == {FlagName.IMPOSSIBLE_TIMES}


def test_what_was_withdrawn_has_nothing_left_to_flag() -> None:
    study = make_study()
    submission = make_submission(study, minutes=0.1)
    assert len(names_of(submission)) == 2  # straight and far too fast
    withdraw_submission(submission=submission)
    submission.refresh_from_db()
    assert submission.state == SubmissionState.WITHDRAWN
    assert names_of(submission) == set()
    assert count_flags(study).finished == 0


def test_flags_cost_the_same_for_one_and_for_many(django_assert_max_num_queries: Any) -> None:
    study = make_study(flow=["consent", "rating", "rating", free_text()], quota_per_group=100)
    for number in range(12):
        make_submission(study, groups=2, external_id=f"p{number}")
    with django_assert_max_num_queries(11):
        count_flags(study)
    with django_assert_max_num_queries(11):
        assess_submissions(Submission.objects.select_related("study"))


def test_a_second_look_reads_no_page_and_no_line_again(
    django_assert_num_queries: Any,
) -> None:
    study = make_study(quota_per_group=100)
    usual = [make_varied(study, minutes=12) for _ in range(10)]
    fast = make_varied(study, minutes=4)
    everybody = list(Submission.objects.order_by("pk"))
    first = assess_submissions(everybody)
    with django_assert_num_queries(5) as seen:
        assert assess_submissions(everybody) == first
    tables = {PageEvent._meta.db_table, Rating._meta.db_table}
    assert not [query["sql"] for query in seen if any(name in query["sql"] for name in tables)]
    # What is usual moves as somebody else finishes: eleven took 12 min, one 4, one 36.
    slow = make_varied(study, minutes=36)
    assert names_of(slow) == names_of(usual[0]) == set()
    assert names_of(fast) == {FlagName.SPEEDING}
