"""What follows from the panel's list, step by step; the whole under random faults is elsewhere."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import ActionKind, ActionState, PanelAction, PayDecision, Submission
from annotation.panels.action_claims import claim_actions, note_call
from annotation.panels.action_plan import propose_rejections, propose_returns, propose_rewards
from annotation.panels.bonuses import BonusCondition, propose_bonus
from annotation.panels.payment_service import (
    pay_study,
    plan_refused_again,
    refresh_study,
    send_again,
    sweep_payments,
)
from annotation.panels.tasks import pay_study as pay_task
from tests.annotation.panels.test_planning import store
from tests.panels_server import Fault

pytestmark = pytest.mark.django_db


def bonus(name: str = "thanks", amount: int = 150):
    return propose_bonus(
        name=name, condition=BonusCondition.APPROVED, amount_minor=amount, amounts=None
    )


def states(study) -> dict[str, str]:
    actions = PanelAction.objects.filter(study=study)
    return {f"{a.reference}:{a.kind}": a.state for a in actions}


def test_the_task_pays_once_however_often_it_is_called(study, add, panel) -> None:
    for name in "abc":
        add(name)
    store(study, propose_rewards)
    store(study, bonus())
    for _ in range(3):
        pay_task(study.pk)
    assert panel.paid("reward") == {"a": 1, "b": 1, "c": 1}
    assert panel.paid("bonus") == {"a": 1, "b": 1, "c": 1}
    assert set(states(study).values()) == {ActionState.CONFIRMED}
    assert panel.count("bulk-approve") == 1, "many at once go in one request"


def test_an_approval_in_doubt_is_settled_by_the_list(study, add, panel) -> None:
    add("a")
    store(study, propose_rewards)
    panel.faults.append(Fault(drop=True, works=True, only="transition"))
    done = pay_study(study=study)
    assert (done.sent, done.open) == (1, 0)
    assert panel.count("transition") == 1


def test_a_bonus_in_doubt_is_not_sent_again_by_itself(study, add, panel) -> None:
    add("a")
    store(study, bonus())
    panel.faults.append(Fault(drop=True, only="/pay/"))
    for _ in range(4):
        pay_study(study=study)
    assert states(study) == {"a:bonus": ActionState.UNCLEAR}
    assert panel.count("/pay/") == 1
    assert not panel.ledger
    assert send_again(study=study) == 1
    pay_study(study=study)
    assert panel.paid("bonus") == {"a": 1}
    assert states(study) == {"a:bonus": ActionState.CONFIRMED}


def test_a_bonus_that_shows_up_late_is_not_sent_again(study, add, panel) -> None:
    add("a")
    store(study, bonus())
    panel.lag = 3
    panel.faults.append(Fault(drop=True, works=True, only="/pay/"))
    pay_study(study=study)
    send_again(study=study)  # the researcher is too quick: the panel still works
    pay_study(study=study)
    assert panel.paid("bonus") == {"a": 1}
    assert panel.count("/pay/") == 1
    assert states(study) == {"a:bonus": ActionState.CONFIRMED}


def test_nobody_sends_again_before_the_panel_has_had_its_time(study, add, panel, settings) -> None:
    settings.PANEL_SETTLE_SECONDS = 3600.0
    add("a")
    store(study, bonus())
    panel.faults.append(Fault(drop=True, only="/pay/"))
    pay_study(study=study)
    assert send_again(study=study) == 0
    assert states(study) == {"a:bonus": ActionState.UNCLEAR}


def test_two_bonuses_of_one_amount_are_told_apart(study, add, panel) -> None:
    add("a")
    store(study, bonus("first"))
    pay_study(study=study)
    store(study, bonus("second"))
    panel.faults.append(Fault(drop=True, only="/pay/"))
    pay_study(study=study)
    by_name = dict(PanelAction.objects.values_list("key", "state"))
    assert by_name == {"first": ActionState.CONFIRMED, "second": ActionState.UNCLEAR}


def test_a_bonus_waits_while_another_of_the_same_person_is_unclear(study, add, panel) -> None:
    add("a")
    store(study, bonus("first"))
    store(study, bonus("second"))
    panel.faults.append(Fault(drop=True, only="/pay/"))
    pay_study(study=study)
    pay_study(study=study)
    assert panel.count("/pay/") == 1
    by_name = dict(PanelAction.objects.values_list("key", "state"))
    assert by_name == {"first": ActionState.UNCLEAR, "second": ActionState.PLANNED}


def test_a_bonus_waits_while_another_was_refused_after_it_may_have_been_paid(
    study, add, panel
) -> None:
    """Or one payment in the list would be taken for both."""
    add("a")
    store(study, bonus("first"))
    panel.faults.append(Fault(drop=True, only="/pay/"))
    pay_study(study=study)
    send_again(study=study)
    panel.faults.append(Fault(status=400, only="/pay/"))
    pay_study(study=study)
    store(study, bonus("second"))
    pay_study(study=study)
    by_name = dict(PanelAction.objects.values_list("key", "state"))
    assert by_name == {"first": ActionState.FAILED, "second": ActionState.PLANNED}
    plan_refused_again(study=study)
    pay_study(study=study)
    pay_study(study=study)
    assert panel.paid("bonus") == {"a": 2}
    assert set(PanelAction.objects.values_list("state", flat=True)) == {ActionState.CONFIRMED}


def test_what_the_panel_approved_by_itself_is_entered_and_not_approved_again(
    study, add, panel
) -> None:
    add("a", pay_decision=PayDecision.WAITING, panel_status="APPROVED")
    refresh_study(study=study)
    action = PanelAction.objects.get()
    assert (action.state, action.by_panel, action.amount_minor) == ("confirmed", True, 200)
    Submission.objects.update(pay_decision=PayDecision.APPROVED)
    assert propose_rewards(study).people == 0


def test_nothing_is_sent_whose_decision_has_changed(study, add, panel) -> None:
    submission = add("a")
    store(study, propose_rewards)
    Submission.objects.filter(pk=submission.pk).update(pay_decision=PayDecision.WAITING)
    pay_study(study=study)
    assert not panel.ledger
    assert not PanelAction.objects.exists()


def test_somebody_who_has_not_finished_at_the_panel_waits(study, add, panel) -> None:
    add("a", panel_status="ACTIVE")
    store(study, propose_rewards)
    assert pay_study(study=study).open == 1
    assert "not finished" in PanelAction.objects.get().problem
    panel.submissions["a"].status = "AWAITING REVIEW"
    pay_study(study=study)
    assert panel.paid("reward") == {"a": 1}


def test_somebody_who_returned_is_not_asked_for(study, add, panel) -> None:
    add("a", panel_status="RETURNED")
    store(study, propose_rewards)
    pay_study(study=study)
    action = PanelAction.objects.get()
    assert action.state == ActionState.FAILED
    assert "Returned" in action.problem
    assert panel.count("transition") == 0


def test_one_bad_submission_does_not_stop_a_batch(study, add, panel) -> None:
    for name in "abc":
        add(name)
    store(study, propose_rewards)
    panel.faults.append(Fault(status=400, only="bulk-approve"))
    pay_study(study=study)
    assert panel.paid("reward") == {"a": 1, "b": 1, "c": 1}


def test_what_was_refused_can_be_planned_again(study, add, panel) -> None:
    add("a")
    del panel.submissions["a"]
    store(study, propose_rewards)
    pay_study(study=study)
    assert PanelAction.objects.get().problem == "The panel does not list this submission."
    panel.add("a")
    assert plan_refused_again(study=study) == 1
    pay_study(study=study)
    assert panel.paid("reward") == {"a": 1}


def test_rejections_and_requests_reach_the_panel(study, add, panel) -> None:
    add("a", pay_decision=PayDecision.REJECTED, ground="low_effort")
    add(
        "b",
        state="ended",
        outcome="no_consent",
        pay_decision=PayDecision.WAITING,
        panel_status="AWAITING REVIEW",
    )
    store(study, propose_rejections)
    store(study, propose_returns)
    pay_study(study=study)
    assert panel.submissions["a"].category == "LOW_EFFORT"
    assert panel.submissions["b"].return_requested
    assert set(states(study).values()) == {ActionState.CONFIRMED}
    assert not panel.ledger


def test_a_worker_that_was_stopped_before_the_call_did_nothing(study, add, panel) -> None:
    add("a")
    store(study, propose_rewards)
    (action,) = claim_actions(study=study, kind=ActionKind.APPROVE, limit=1)
    assert claim_actions(study=study, kind=ActionKind.APPROVE, limit=1) == []
    pay_study(study=study)
    assert not panel.ledger, "it is in the hands of another worker"
    lapsed = timezone.now() - timedelta(days=1)
    PanelAction.objects.update(claimed_at=lapsed)
    pay_study(study=study)
    assert panel.paid("reward") == {"a": 1}
    assert not note_call([action]), "the worker that comes back finds its claim gone"


def test_a_claim_made_while_the_clock_was_ahead_does_not_hold_a_payment_up(
    study, add, panel
) -> None:
    add("a")
    store(study, propose_rewards)
    claim_actions(study=study, kind=ActionKind.APPROVE, limit=1)
    PanelAction.objects.update(
        claimed_at=timezone.now() + timedelta(hours=3), try_at=timezone.now() + timedelta(hours=3)
    )
    assert sweep_payments() == 1
    pay_study(study=study)
    assert panel.paid("reward") == {"a": 1}


def test_a_claim_that_is_too_old_makes_no_call(study, add) -> None:
    add("a")
    store(study, propose_rewards)
    actions = claim_actions(study=study, kind=ActionKind.APPROVE, limit=1)
    PanelAction.objects.update(claimed_at=timezone.now() - timedelta(days=1))
    assert not note_call(actions)
    assert PanelAction.objects.get().called_at is None


def test_a_panel_that_is_away_leaves_everything_planned_with_the_reason(
    study, add, panel, settings
) -> None:
    settings.PANEL_ATTEMPTS = 1
    add("a")
    store(study, propose_rewards)
    panel.faults.append(Fault(status=500))
    assert "500" in pay_study(study=study).problem
    action = PanelAction.objects.get()
    assert (action.state, "500" in action.problem) == (ActionState.PLANNED, True)


def test_a_token_that_is_not_set_is_named_and_nothing_lost(study, add, panel, monkeypatch) -> None:
    monkeypatch.delenv("PROLIFIC_TOKEN_OF_TESTS")
    add("a")
    store(study, propose_rewards)
    assert "PROLIFIC_TOKEN_OF_TESTS is not set" in pay_study(study=study).problem
    assert states(study) == {"a:approve": ActionState.PLANNED}


def test_the_sweep_finds_studies_with_something_due(study, add, panel) -> None:
    assert sweep_payments() == 0
    add("a")
    store(study, propose_rewards)
    assert sweep_payments() == 1
    pay_study(study=study)
    assert sweep_payments() == 0
