"""The two decisions about a submission and what they may rest on (field notes of the panels)."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from annotation.models import (
    CheckKind,
    CheckResponse,
    DataDecision,
    PayDecision,
    Rating,
    RejectionGround,
    Review,
    Submission,
    SubmissionState,
)
from annotation.studies.pace import find_fast_limit
from annotation.studies.review_service import (
    MEMORY_CHECKS,
    decide_by_rules,
    rejection_grounds,
    review_submission,
)
from annotation.survey.withdrawal import withdraw_submission
from tests.annotation.studies.people import make_study, make_submission, make_user

pytestmark = pytest.mark.django_db


def test_review_puts_both_decisions_in_force_and_keeps_the_older_one() -> None:
    alice = make_user("alice")
    submission = make_submission(make_study(owner=alice))
    review_submission(
        submission=submission,
        reviewer=alice,
        data_decision=DataDecision.EXCLUDED,
        pay_decision=PayDecision.APPROVED,
        reason="Straight lines.",
    )
    review_submission(
        submission=submission,
        reviewer=alice,
        data_decision=DataDecision.ACCEPTED,
        pay_decision=PayDecision.APPROVED,
    )
    stored = Submission.objects.get(pk=submission.pk)
    assert (stored.data_decision, stored.pay_decision) == ("accepted", "approved")
    assert (submission.data_decision, submission.pay_decision) == ("accepted", "approved")
    assert [review.data_decision for review in stored.reviews.all()] == ["accepted", "excluded"]


@pytest.mark.parametrize("state", [SubmissionState.ENDED, SubmissionState.WITHDRAWN])
def test_data_of_an_unfinished_submission_are_never_accepted(state: str) -> None:
    submission = make_submission(make_study(), state=state)
    with pytest.raises(ValidationError, match="expected a finished submission"):
        review_submission(
            submission=submission,
            reviewer=None,
            data_decision=DataDecision.ACCEPTED,
            pay_decision=PayDecision.APPROVED,
        )
    assert not Review.objects.exists()


def test_a_withdrawn_submission_can_still_be_paid() -> None:
    submission = make_submission(make_study(), state=SubmissionState.WITHDRAWN)
    review_submission(
        submission=submission,
        reviewer=None,
        data_decision=DataDecision.EXCLUDED,
        pay_decision=PayDecision.APPROVED,
    )
    assert Submission.objects.get().pay_decision == PayDecision.APPROVED


def test_erased_data_stay_excluded() -> None:
    submission = make_submission(make_study(), state=SubmissionState.WITHDRAWN)
    with pytest.raises(ValidationError, match="its data stay excluded"):
        review_submission(
            submission=submission,
            reviewer=None,
            data_decision=DataDecision.WAITING,
            pay_decision=PayDecision.APPROVED,
        )


def test_nothing_is_decided_while_somebody_is_rating() -> None:
    submission = make_submission(make_study(), state=SubmissionState.IN_PROGRESS)
    with pytest.raises(ValidationError, match="still in progress"):
        review_submission(
            submission=submission,
            reviewer=None,
            data_decision=DataDecision.EXCLUDED,
            pay_decision=PayDecision.APPROVED,
        )


@pytest.mark.parametrize(
    "kind", [CheckKind.GROUP_NAME, CheckKind.MARKED_TRAITS, CheckKind.REPEATED_GROUP]
)
def test_a_failed_memory_check_never_costs_pay(kind: str) -> None:
    submission = make_submission(make_study(), failed=[kind])
    scatter(submission)
    with pytest.raises(ValidationError, match=r"rests on memory.*it never costs pay"):
        reject(submission, on_ground="")
    assert not Review.objects.exists()
    assert Submission.objects.get().pay_decision == PayDecision.WAITING


def scatter(submission: Submission) -> None:
    """Let the answers lie at two places of every page: no ground is left."""
    Rating.objects.filter(assignment__submission=submission, position__lt=9).update(value=20)


def reject(submission: Submission, *, on_ground: str) -> None:
    review_submission(
        submission=submission,
        reviewer=None,
        data_decision=DataDecision.EXCLUDED,
        pay_decision=PayDecision.REJECTED,
        reason="I did not like it.",
        on_ground=on_ground,
    )


@pytest.mark.parametrize("failed", [[], [CheckKind.GROUP_NAME]])
def test_grounds_that_hold_are_named_and_nothing_beside_the_point(failed: list[str]) -> None:
    with pytest.raises(ValidationError) as raised:
        reject(make_submission(make_study(), failed=failed), on_ground="")
    assert raised.value.messages == [
        "Choose the ground on which pay is rejected: “Low effort throughout”."
    ]


def test_of_memory_checks_nothing_is_said_where_none_failed() -> None:
    submission = make_submission(make_study())
    scatter(submission)
    with pytest.raises(ValidationError) as raised:
        reject(submission, on_ground="")
    assert raised.value.messages == [
        "Pay cannot be rejected: none of the grounds that panels allow applies here."
    ]


def test_an_unknown_ground_is_no_ground() -> None:
    with pytest.raises(ValidationError, match="Choose the ground on which pay is rejected"):
        reject(make_submission(make_study()), on_ground="dislike")


def test_a_rejection_tells_its_reason() -> None:
    submission = make_submission(make_study())
    with pytest.raises(ValidationError, match="needs a reason"):
        review_submission(
            submission=submission,
            reviewer=None,
            data_decision=DataDecision.EXCLUDED,
            pay_decision=PayDecision.REJECTED,
            reason="   ",
            on_ground=RejectionGround.LOW_EFFORT,
        )


def test_low_effort_is_a_ground_also_where_a_check_failed() -> None:
    submission = make_submission(make_study(), failed=[CheckKind.GROUP_NAME])
    review = review_submission(
        submission=submission,
        reviewer=None,
        data_decision=DataDecision.EXCLUDED,
        pay_decision=PayDecision.REJECTED,
        reason="Every line of every page at the left end.",
        on_ground=RejectionGround.LOW_EFFORT,
    )
    assert review.pay_ground == "low_effort"
    assert Submission.objects.get().pay_decision == PayDecision.REJECTED


def test_too_fast_is_checked_against_the_times_of_the_study() -> None:
    study = make_study(quota_per_group=100)
    for _ in range(30):
        make_submission(study, minutes=10, groups=1)
    slow, fast = (make_submission(study, minutes=minutes, groups=1) for minutes in (9.9, 1.0))
    arguments = {
        "reviewer": None,
        "data_decision": DataDecision.EXCLUDED,
        "pay_decision": PayDecision.REJECTED,
        "reason": "Less time than reading the pages aloud.",
        "on_ground": RejectionGround.TOO_FAST,
    }
    with pytest.raises(ValidationError, match="was not exceptionally fast"):
        review_submission(submission=slow, **arguments)
    assert review_submission(submission=fast, **arguments).pay_ground == "too_fast"


def test_fast_limit_against_a_hand_derivation() -> None:
    # Five times 8 and five times 12: mean 10, squared deviations 10 * 4 = 40,
    # sd = sqrt(40 / 9) = 2.108185..., limit 10 - 3 * 2.108185... = 3.675445 (six decimals).
    limit = find_fast_limit([8.0] * 5 + [12.0] * 5)
    assert limit == pytest.approx(3.675445, abs=1e-6)


def test_fast_limit_is_undefined_for_few_or_scattered_times() -> None:
    assert find_fast_limit([10.0] * 9) is None
    assert find_fast_limit([1.0] * 5 + [100.0] * 5) is None


def test_a_ground_without_a_rejection_is_refused() -> None:
    submission = make_submission(make_study())
    with pytest.raises(ValidationError, match="pay is not rejected"):
        review_submission(
            submission=submission,
            reviewer=None,
            data_decision=DataDecision.EXCLUDED,
            pay_decision=PayDecision.APPROVED,
            on_ground=RejectionGround.LOW_EFFORT,
        )


def test_an_unknown_decision_is_refused() -> None:
    submission = make_submission(make_study())
    with pytest.raises(ValidationError, match="maybe"):
        review_submission(
            submission=submission, reviewer=None, data_decision="maybe", pay_decision="approved"
        )
    assert Submission.objects.get().data_decision == DataDecision.WAITING


def test_withdrawing_after_a_rejection_keeps_the_rejection_and_its_ground() -> None:
    submission = make_submission(make_study())
    review_submission(
        submission=submission,
        reviewer=None,
        data_decision=DataDecision.EXCLUDED,
        pay_decision=PayDecision.REJECTED,
        reason="Every line of every page at the left end.",
        on_ground=RejectionGround.LOW_EFFORT,
    )
    withdraw_submission(submission=submission)
    newest = Review.objects.order_by("-pk")[0]
    assert (newest.pay_decision, newest.pay_ground) == ("rejected", "low_effort")
    assert Submission.objects.get().state == SubmissionState.WITHDRAWN


def test_the_database_itself_refuses_a_rejection_without_ground() -> None:
    submission = make_submission(make_study())
    with pytest.raises(IntegrityError), transaction.atomic():
        Review.objects.create(
            submission=submission, data_decision="excluded", pay_decision="rejected", reason="x"
        )


@pytest.mark.parametrize(
    ("failed", "expected"),
    [([], DataDecision.ACCEPTED), ([CheckKind.MARKED_TRAITS], DataDecision.EXCLUDED)],
)
def test_checks_decide_the_data_and_everyone_is_paid(failed: list[str], expected: str) -> None:
    submission = make_submission(make_study(decide_by_checks=True), failed=failed)
    review = decide_by_rules(submission=submission)
    assert review is not None
    assert review.reviewer is None
    stored = Submission.objects.get()
    assert (stored.data_decision, stored.pay_decision) == (expected, PayDecision.APPROVED)
    assert submission.data_decision == expected


def test_deciding_twice_stores_one_review() -> None:
    submission = make_submission(make_study(decide_by_checks=True))
    decide_by_rules(submission=submission)
    assert decide_by_rules(submission=submission) is None
    assert Review.objects.count() == 1


@pytest.mark.parametrize(
    ("by_checks", "state", "passed"),
    [
        (True, SubmissionState.FINISHED, None),
        (False, SubmissionState.FINISHED, True),
        (True, SubmissionState.IN_PROGRESS, None),
    ],
)
def test_what_checks_cannot_decide_waits_for_a_person(
    by_checks: bool, state: str, passed: bool | None
) -> None:
    study = make_study(decide_by_checks=by_checks)
    submission = make_submission(study, state=state, checks_passed=passed)
    assert decide_by_rules(submission=submission) is None
    assert Submission.objects.get().data_decision == DataDecision.WAITING


@pytest.mark.parametrize(
    ("accept", "exclude", "failed", "straight", "expected"),
    [
        pytest.param("checks", "propose", False, True, "accepted", id="checks-alone-accept"),
        pytest.param("no_flag", "propose", False, True, "waiting", id="a-flag-waits"),
        pytest.param("no_flag", "propose", False, False, "accepted", id="no-flag-accepts"),
        pytest.param("no_flag", "propose", True, False, "waiting", id="nobody-is-excluded"),
        pytest.param("propose", "checks", True, False, "excluded", id="a-failed-check-excludes"),
        pytest.param("propose", "checks", False, False, "waiting", id="nobody-is-accepted"),
        pytest.param("propose", "check_and_flag", True, False, "waiting", id="a-check-alone-waits"),
        pytest.param("propose", "check_and_flag", True, True, "excluded", id="both-exclude"),
    ],
)
def test_rules_decide_only_what_the_study_leaves_to_them(
    accept: str, exclude: str, failed: bool, straight: bool, expected: str
) -> None:
    study = make_study(accept_rule=accept, exclude_rule=exclude)
    submission = make_submission(study, failed=[CheckKind.MARKED_TRAITS] if failed else [])
    if not straight:
        for number, rating in enumerate(Rating.objects.all()):
            rating.value = (number * 37) % 101
            rating.save()
    review = decide_by_rules(submission=submission)
    stored = Submission.objects.get()
    assert stored.data_decision == expected
    if expected == "waiting":
        assert review is None
    else:
        assert (stored.pay_decision, review.reviewer) == ("approved", None)
        assert review.reason.endswith(".")
        # A person changes it, and the platform's decision stays in the history.
        review_submission(
            submission=submission,
            reviewer=make_user("alice"),
            data_decision=DataDecision.EXCLUDED,
            pay_decision=PayDecision.APPROVED,
            reason="Looked again.",
        )
        assert stored.reviews.count() == 2


def test_a_decision_keeps_the_flags_of_its_moment() -> None:
    study = make_study()
    submission = make_submission(study)
    first = review_submission(
        submission=submission, reviewer=None, data_decision="excluded", pay_decision="approved"
    )
    assert [(flag["name"], flag["threshold"]) for flag in first.flags] == [("straight_lining", 1)]
    study.quality_thresholds = {"straight_pages": 6}
    study.save()
    second = review_submission(
        submission=submission, reviewer=None, data_decision="accepted", pay_decision="approved"
    )
    assert second.flags == []
    first.refresh_from_db()
    assert first.flags[0]["value"] == 5
    # Whoever withdraws takes along what was read from their answers.
    withdraw_submission(submission=submission)
    assert set(map(str, Review.objects.values_list("flags", flat=True))) == {"[]"}


def add_failed(submission: Submission, *kinds: str) -> None:
    for place, kind in enumerate(kinds, start=20):
        CheckResponse.objects.create(
            submission=submission, kind=kind, step_index=place, passed=False
        )


@pytest.mark.parametrize(
    ("minutes", "failed", "holds"),
    [
        # Prolific: one failed check suffices under five minutes; from five on it takes two.
        pytest.param(4, ["instructed"], True, id="one-in-a-short-study"),
        pytest.param(4, [], False, id="none-in-a-short-study"),
        pytest.param(5, ["instructed"], False, id="one-in-a-longer-study"),
        pytest.param(5, ["instructed", "nonsensical"], True, id="two-in-a-longer-study"),
        pytest.param(4, ["comprehension"], False, id="comprehension-is-none"),
        pytest.param(10, ["instructed", "comprehension"], False, id="comprehension-adds-nothing"),
    ],
)
def test_failed_attention_checks_cost_pay_only_as_panels_allow(
    minutes: int, failed: list[str], holds: bool
) -> None:
    # All three checks that rest on memory are failed as well: they never count.
    study = make_study(estimated_minutes=minutes)
    submission = make_submission(study, failed=list(MEMORY_CHECKS))
    Rating.objects.filter(position=1).update(value=1)
    Rating.objects.filter(position__gt=9).update(value=99)
    add_failed(submission, *failed)
    grounds = {found.ground for found in rejection_grounds(submission)}
    assert grounds == ({RejectionGround.FAILED_CHECK} if holds else set())
    arguments = {
        "submission": submission,
        "reviewer": None,
        "data_decision": DataDecision.EXCLUDED,
        "pay_decision": PayDecision.REJECTED,
        "reason": "Two attention checks failed.",
        "on_ground": RejectionGround.FAILED_CHECK,
    }
    if holds:
        assert review_submission(**arguments).pay_ground == "failed_check"
    else:
        with pytest.raises(ValidationError, match="failed too few checks"):
            review_submission(**arguments)


def test_a_null_character_in_a_reason_is_refused_and_decides_nothing() -> None:
    submission = make_submission(make_study())
    with pytest.raises(ValidationError, match="Null characters"):
        review_submission(
            submission=submission,
            reviewer=None,
            data_decision=DataDecision.EXCLUDED,
            pay_decision=PayDecision.APPROVED,
            reason="Straight\0 lines.",
        )
    assert not Review.objects.exists()
    assert Submission.objects.get().data_decision == "waiting"
