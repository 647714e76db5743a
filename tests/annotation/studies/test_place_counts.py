"""Places are counted by the database in the transaction of what changes them, by any way."""

from __future__ import annotations

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from annotation.models import (
    GroupAssignment,
    PlaceCount,
    Study,
    Submission,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.studies.place_counts import (
    after_migrate,
    before_migrate,
    drop_triggers,
    find_wrong_counts,
    has_triggers,
)
from annotation.studies.quotas import count_quotas, list_slots
from annotation.studies.review_service import review_submission
from annotation.survey.arm_assignment import count_arms
from annotation.survey.withdrawal import withdraw_submission
from tests.annotation.studies.people import make_study, make_submission

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return make_study()


def read(
    study: Study, *, scope: str = "counted", kind: str = "group"
) -> dict[tuple[int, ...], int]:
    """Return how many places have which (accepted, in review, doubtful), those at 0 left out."""
    found: dict[tuple[int, ...], int] = {}
    for row in PlaceCount.objects.filter(study=study, scope=scope, kind=kind):
        numbers = (row.accepted, row.in_review, row.doubtful)
        if any(numbers):
            found[numbers] = found.get(numbers, 0) + 1
    return found


def decide(submission: Submission, data: str) -> None:
    review_submission(
        submission=submission, reviewer=None, data_decision=data, pay_decision="approved"
    )


def test_a_place_follows_its_submission_from_review_to_the_end(study: Study) -> None:
    make_submission(study, state=SubmissionState.IN_PROGRESS)
    assert read(study) == {}
    submission = make_submission(study)  # four groups, and one of them again
    assert read(study) == {(0, 1, 0): 4}
    decide(submission, "accepted")
    assert read(study) == {(1, 0, 0): 4}
    other = make_submission(study, failed=["group_name"], first_group=2)
    assert read(study) == {(1, 0, 0): 2, (1, 0, 1): 2, (0, 0, 1): 2}
    decide(other, "excluded")
    assert read(study) == {(1, 0, 0): 4}
    withdraw_submission(submission=submission)
    assert read(study) == {}
    assert find_wrong_counts() == []


def test_changes_that_pass_by_the_services_are_counted(study: Study) -> None:
    first, second = make_submission(study), make_submission(study, first_group=4)
    Submission.objects.filter(study=study).update(data_decision="accepted")
    assert read(study) == {(1, 0, 0): 8}
    GroupAssignment.objects.filter(submission=first, position=1).update(skipped="unknown")
    assert read(study) == {(1, 0, 0): 7}
    GroupAssignment.objects.filter(submission=first, position=1).update(skipped="")
    Submission.objects.filter(pk=second.pk).update(is_counted=False)
    assert read(study) == {(1, 0, 0): 4}
    first.delete()
    assert read(study) == {}
    Submission.objects.filter(pk=second.pk).update(is_counted=True, arm="long")
    assert read(study) == {(1, 0, 0): 4}
    assert read(study, kind="arm") == {(1, 0, 0): 1}
    assert count_arms(study) == {"long": 1}
    assert find_wrong_counts() == []


def test_pilots_have_counts_of_their_own(study: Study) -> None:
    submission = make_submission(study)
    Submission.objects.filter(pk=submission.pk).update(
        origin=SubmissionOrigin.PILOT, is_counted=False
    )
    assert (read(study), read(study, scope="pilot")) == ({}, {(0, 1, 0): 4})
    Submission.objects.filter(pk=submission.pk).update(is_counted=True)
    assert read(study) == read(study, scope="pilot") == {(0, 1, 0): 4}


def test_what_is_rolled_back_is_not_counted(study: Study) -> None:
    with transaction.atomic():
        make_submission(study)
        assert read(study) == {(0, 1, 0): 4}
        transaction.set_rollback(True)
    assert read(study) == {}


def test_no_count_falls_below_nothing(study: Study) -> None:
    submission = make_submission(study)
    PlaceCount.objects.update(in_review=0)
    with pytest.raises(IntegrityError), transaction.atomic():
        Submission.objects.filter(pk=submission.pk).update(data_decision="excluded")


def test_the_command_names_what_differs_and_counts_anew(study: Study) -> None:
    make_submission(study)
    out, err = StringIO(), StringIO()
    call_command("verify_counts", stdout=out)
    assert out.getvalue() == "Every number of taken places is that of the submissions.\n"
    wrong = PlaceCount.objects.order_by("pk")[0]
    PlaceCount.objects.filter(pk=wrong.pk).update(accepted=7)
    with pytest.raises(CommandError, match=r"^1 numbers differ\. Count anew with --recount\.$"):
        call_command("verify_counts", stderr=err)
    assert err.getvalue() == (
        f"study {study.pk}, counted, group “{wrong.key}”: kept (7, 1, 0), counted (0, 1, 0) "
        "(accepted, in_review, doubtful)\n"
    )
    call_command("verify_counts", "--recount", stdout=out)
    assert find_wrong_counts() == []


def test_migrating_counts_what_was_stored_meanwhile(study: Study) -> None:
    """SQLite cannot alter a table that a trigger names: they are away while tables change."""
    before_migrate(plan=["a migration"], using="default")
    make_submission(study)
    assert read(study) == {}
    after_migrate(plan=["a migration"], using="default")
    assert read(study) == {(0, 1, 0): 4}
    make_submission(study)
    assert read(study) == {(0, 2, 0): 4}


def test_counting_places_reads_no_submission_that_has_ended(study: Study) -> None:
    """What a start costs does not grow with the study: its plan names no scan, and this index."""
    if connection.vendor != "sqlite":
        pytest.skip("plans of a few rows on PostgreSQL are scans")
    rows = list_slots([study.pk], study.status, study.created_at)
    plan = rows.explain()
    assert "submission_by_place (study_id=? AND state=? AND reserved_until>?)" in plan
    assert "SCAN annotation_" not in plan
    assert [quota.taken for quota in count_quotas(study, instrument=study.instruments.get())]


@pytest.mark.django_db(transaction=True)
def test_a_migration_that_was_killed_before_its_end_leaves_no_counts_untended() -> None:
    drop_triggers(connection)  # what a kill leaves once no migration is open any more
    call_command("migrate", verbosity=0)
    assert has_triggers(connection)
    assert find_wrong_counts() == []
