"""Who would be paid, rejected or asked to return, and that only what was confirmed is stored."""

from __future__ import annotations

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from annotation.models import (
    ActionKind,
    ActionState,
    Outcome,
    PanelAction,
    PanelRecord,
    PanelSettings,
    ParticipantIdentity,
    PayDecision,
    Study,
    SubmissionOrigin,
    SubmissionState,
)
from annotation.panels.action_plan import (
    PlanChangedError,
    PlanTotals,
    ask_for_rejections,
    ask_for_returns,
    ask_for_rewards,
    propose_rejections,
    propose_returns,
    propose_rewards,
    store_plan,
    total_plan,
)
from annotation.panels.bonuses import BonusCondition, propose_bonus, read_amount, read_list
from tests.annotation.panels.conftest import LONG_REASON

pytestmark = pytest.mark.django_db

EVERYONE = BonusCondition.APPROVED


def store(study, propose) -> int:
    return store_plan(
        study=study, propose=propose, fingerprint=propose(study).fingerprint, planned_by=None
    )


def test_only_approved_people_are_proposed(study, add) -> None:
    approved = add("a")
    add("b", pay_decision=PayDecision.WAITING)
    add("c", pay_decision=PayDecision.REJECTED)
    add("d", state=SubmissionState.IN_PROGRESS)
    plan = propose_rewards(study)
    assert [item.submission for item in plan.proposals] == [approved]
    assert (plan.people, plan.amount_minor) == (1, 200)


def test_a_preview_is_never_paid(study, add) -> None:
    add("a", origin=SubmissionOrigin.PREVIEW, is_counted=False)
    assert propose_rewards(study).people == 0


def test_pilots_and_withdrawn_people_are_paid(study, add) -> None:
    add("a", origin=SubmissionOrigin.PILOT, is_counted=False)
    add("b", state=SubmissionState.WITHDRAWN)
    assert propose_rewards(study).people == 2


def test_what_cannot_be_paid_is_counted_with_its_reason(study, add) -> None:
    add("a")
    ParticipantIdentity.objects.update(session_id="")
    returned = add("b")
    PanelRecord.objects.create(
        submission=returned,
        status="RETURNED",
        status_at=returned.started_at,
        seen_at=returned.started_at,
    )
    add("c", state=SubmissionState.ENDED, outcome=Outcome.NO_CONSENT)
    plan = propose_rewards(study)
    assert plan.people == 0
    assert sorted(plan.left_out.values()) == [1, 1, 1]
    assert any("returned" in reason for reason in plan.left_out)


def test_totals_are_those_of_the_plans_in_one_query(study, add, django_assert_num_queries) -> None:
    # 12 % of the reward of 200 are 24.
    PanelSettings.objects.update(screen_out_pay="share", screen_out_percent=12)
    ended = SubmissionState.ENDED
    for name in ("a", "b"):
        add(name)
        add(f"{name}-screened", state=ended, outcome=Outcome.SCREENED_OUT)
        add(f"{name}-declined", state=ended, outcome=Outcome.NO_CONSENT, pay_decision="waiting")
        add(f"{name}-unsaid", state=ended, outcome=Outcome.NO_CONSENT)
        returned = add(f"{name}-returned")
        PanelRecord.objects.create(
            submission=returned,
            status="RETURNED",
            status_at=returned.started_at,
            seen_at=returned.started_at,
        )
        ParticipantIdentity.objects.filter(participant=add(f"{name}-unknown").participant).update(
            session_id=""
        )
        ParticipantIdentity.objects.filter(participant=add(f"{name}-erased").participant).delete()
        for told in ("Too fast.", LONG_REASON):
            rejected = {"pay_decision": PayDecision.REJECTED, "ground": "low_effort", "told": told}
            add(f"{name}-{len(told)}", **rejected)
    fresh = Study.objects.get(pk=study.pk)
    for propose, ask_for, *expected in (
        (propose_rewards, ask_for_rewards, 4, 2 * 200 + 2 * 24, [2, 2, 4]),
        (propose_returns, ask_for_returns, 4, 0, []),
        (propose_rejections, ask_for_rejections, 2, 0, [2]),
    ):
        plan = propose(fresh)
        with django_assert_num_queries(1):
            totals = total_plan(*ask_for(fresh))
        assert totals == PlanTotals(plan.people, plan.amount_minor, plan.left_out)
        assert [totals.people, totals.amount_minor, sorted(totals.left_out.values())] == expected


def test_proposals_cost_two_queries(study, add, django_assert_num_queries) -> None:
    for name in "abcd":
        add(name)
    fresh = Study.objects.get(pk=study.pk)
    with django_assert_num_queries(2):
        assert propose_rewards(fresh).people == 4


@pytest.mark.parametrize(
    ("pay", "expected"),
    [
        ({"screen_out_pay": "nothing"}, None),
        ({"screen_out_pay": "fixed", "screen_out_minor": 30}, (30, "")),
        # 12 % of 205 is 24.6, which is 25 in whole cents.
        ({"screen_out_pay": "share", "screen_out_percent": 12}, (25, "12")),
    ],
)
def test_people_screened_out_get_what_the_study_says(study, add, pay, expected) -> None:
    study.reward_cents = 205
    study.save()
    PanelSettings.objects.update(**pay)
    study.panel_settings.refresh_from_db()
    add("a", state=SubmissionState.ENDED, outcome=Outcome.SCREENED_OUT)
    plan = propose_rewards(study)
    found = [(item.amount_minor, item.category) for item in plan.proposals]
    assert found == ([] if expected is None else [expected])
    if expected is not None:
        assert plan.proposals[0].kind == ActionKind.SCREEN_OUT
        assert propose_returns(study).people == 0
    else:
        assert propose_returns(study).people == 1


def test_no_consent_and_unpaid_screenings_are_returns_and_never_rejections(study, add) -> None:
    for name, outcome in (("a", Outcome.NO_CONSENT), ("b", Outcome.SCREENED_OUT)):
        add(name, state=SubmissionState.ENDED, outcome=outcome, pay_decision=PayDecision.WAITING)
    plan = propose_returns(study)
    assert {item.kind for item in plan.proposals} == {ActionKind.RETURN}
    assert plan.people == 2
    assert propose_rejections(study).people == 0
    store(study, propose_returns)
    assert propose_returns(study).people == 0, "nobody is asked twice"


def test_a_rejection_has_the_panels_category_and_the_reviews_words(study, add) -> None:
    add("a", pay_decision=PayDecision.REJECTED, ground="low_effort")
    add("b", pay_decision=PayDecision.REJECTED, ground="too_fast", told="Too fast.")
    plan = propose_rejections(study)
    (item,) = plan.proposals
    assert (item.category, item.message, item.amount_minor) == ("LOW_EFFORT", LONG_REASON, 0)
    assert list(plan.left_out.values()) == [1]
    assert "100 characters" in next(iter(plan.left_out))


def test_a_ground_that_the_panel_does_not_allow_is_left_out(study, add) -> None:
    submission = add("a", pay_decision=PayDecision.REJECTED, ground="low_effort")
    submission.reviews.update(pay_ground="memory")
    plan = propose_rejections(study)
    assert plan.people == 0
    assert "does not allow the ground" in next(iter(plan.left_out))


def test_what_is_stored_is_what_was_confirmed(study, add) -> None:
    add("a")
    confirmed = propose_rewards(study).fingerprint
    add("b")
    with pytest.raises(PlanChangedError):
        store_plan(study=study, propose=propose_rewards, fingerprint=confirmed, planned_by=None)
    assert not PanelAction.objects.exists()
    assert store(study, propose_rewards) == 2
    assert propose_rewards(study).people == 0
    assert store(study, propose_rewards) == 0
    assert PanelAction.objects.count() == 2


def test_the_database_allows_one_verdict_and_one_bonus_of_a_name(study, add) -> None:
    submission = add("a")
    store(study, propose_rewards)
    store(study, propose_bonus(name="thanks", condition=EVERYONE, amount_minor=50, amounts=None))
    values = {"study": study, "submission": submission, "amount_minor": 1, "currency": "USD"}
    values["try_at"] = submission.started_at
    for kind, key in ((ActionKind.APPROVE, ""), (ActionKind.REJECT, ""), ("bonus", "thanks")):
        with pytest.raises(IntegrityError), transaction.atomic():
            PanelAction.objects.create(kind=kind, key=key, **values)
    PanelAction.objects.filter(kind=ActionKind.APPROVE).update(state=ActionState.FAILED)
    PanelAction.objects.create(kind=ActionKind.REJECT, **values)


# --- bonuses --------------------------------------------------------------------------------


def test_a_bonus_goes_to_those_who_meet_the_condition_and_are_approved(study, add) -> None:
    add("a", data_decision="accepted", checks_passed=True)
    add("b", data_decision="excluded", checks_passed=False)
    add("c", data_decision="accepted", checks_passed=True, pay_decision=PayDecision.WAITING)
    for condition, people in (("approved", 2), ("accepted", 1), ("checks_passed", 1)):
        propose = propose_bonus(
            name="thanks", condition=BonusCondition(condition), amount_minor=150, amounts=None
        )
        assert propose(study).people == people, condition
        assert propose(study).amount_minor == 150 * people


def test_nobody_gets_two_bonuses_of_one_name(study, add) -> None:
    add("a")
    propose = propose_bonus(name="thanks", condition=EVERYONE, amount_minor=150, amounts=None)
    assert store(study, propose) == 1
    plan = propose(study)
    assert (plan.people, list(plan.left_out.values())) == (0, [1])
    other = propose_bonus(name="more", condition=EVERYONE, amount_minor=150, amounts=None)
    assert other(study).people == 1


def test_amounts_for_single_submissions(study, add) -> None:
    first, second = add("a"), add("b", pay_decision=PayDecision.WAITING)
    text = f"S-{first.public_id}, 1.50\n{second.public_id};2,25\n\nS-{'0' * 12} 3"
    amounts = read_list(text, "USD")
    assert amounts == {first.public_id: 150, second.public_id: 225, "0" * 12: 300}
    plan = propose_bonus(name="n", condition=BonusCondition.LISTED, amounts=amounts)(study)
    assert [(item.submission, item.amount_minor) for item in plan.proposals] == [(first, 150)]
    assert list(plan.left_out.values()) == [2]


def test_every_bad_line_of_a_list_is_named() -> None:
    good, bad = "S-0123456789ab, 1.5", "S-000000000000, 1.234\nS-111111111111, -1"
    text = f"{good}\nnonsense\n{good}\n{bad}"
    with pytest.raises(ValidationError) as problem:
        read_list(text, "USD")
    lines = [message.partition(":")[0] for message in problem.value.messages]
    assert lines == ["Line 2", "Line 3", "Line 4", "Line 5"]


@pytest.mark.parametrize("text", ["", "0", "1.234", "-1", "1e3", "2 000", "9999999", "NaN"])
def test_an_amount_that_cannot_be_is_refused(text) -> None:
    with pytest.raises(ValidationError):
        read_amount(text, "USD")


@pytest.mark.parametrize("name", ["", "Thanks", "a b", "x" * 41, "-a"])
def test_a_name_that_cannot_be_is_refused(name) -> None:
    with pytest.raises(ValidationError, match="is no name"):
        propose_bonus(name=name, condition=EVERYONE, amount_minor=150, amounts=None)
