"""Everyone who is approved is paid once, whatever goes wrong: the ledger equal the panel's ledger.

Each example draws people with decisions and bonuses and a schedule of faults: answers of 429, 500
and 400, silences, dropped connections, before, after and long after the work was done, and workers
that are killed in the middle of a request. The panel enforces its own rules and pays a bonus as
often as it is asked to. Workers are real processes where they are killed.
"""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.models import (
    ActionKind,
    ActionState,
    PanelAction,
    PayDecision,
    Study,
)
from annotation.panels.action_plan import propose_rejections, propose_rewards, store_plan
from annotation.panels.bonuses import BonusCondition, propose_bonus
from annotation.panels.errors import PanelAwayError
from annotation.panels.payment_service import pay_study, plan_refused_again, send_again
from tests.annotation.panels.conftest import make_paid, make_panel_study
from tests.depth import examples
from tests.panels_server import Fault, PanelServer

TIMEOUT = 0.15
MOST_PASSES = 60

SILENT = {"drop": True, "hang": 2 * TIMEOUT}
KINDS = st.sampled_from(
    [
        {"status": 429, "retry_after": 0.0},
        {"status": 500},
        {"status": 503, "works": True},
        {"status": 400},
        {"drop": True},
        {"drop": True, "works": True},
        {"drop": True, "works": True},
        {**SILENT, "works": True},
        {**SILENT, "late": True},
        {"kill": True},
        {"kill": True, "works": True},
    ]
)
#: What goes wrong with the requests of each kind, in the order in which they come.
FAULTS = st.fixed_dictionaries(
    {
        path: st.lists(KINDS, max_size=3)
        for path in ("/pay/", "bonus-payments", "bulk-approve", "transition", "study1/submissions")
    }
).map(lambda drawn: [Fault(only=path, **kind) for path, kinds in drawn.items() for kind in kinds])
PEOPLE = st.lists(
    st.tuples(
        st.sampled_from([*[PayDecision.APPROVED] * 3, PayDecision.WAITING, PayDecision.REJECTED]),
        st.sets(st.sampled_from(["first", "second"])),
    ),
    min_size=1,
    max_size=4,
)


def run_worker(study: Study, panel: PanelServer) -> None:
    """Let a worker do one pass: a process of its own where it is going to be killed."""
    if not any(fault.kill for fault in panel.faults):
        pay_study(study=study)
        return
    connections.close_all()
    child = os.fork()
    if child == 0:  # the worker
        panel.worker = None
        try:
            pay_study(study=study)
        finally:
            connections.close_all()
            os._exit(0)
    panel.worker = child
    os.waitpid(child, 0)
    panel.worker = None
    # The lease of a worker that was killed runs out.
    PanelAction.objects.filter(study=study, state=ActionState.SENT, accepted_at=None).update(
        claimed_at=timezone.now() - timedelta(days=1)
    )


def plan_everything(study: Study, bonuses: dict[str, dict[str, int]]) -> None:
    proposers = [propose_rewards, propose_rejections]
    for name, amounts in bonuses.items():
        if amounts:
            listed = BonusCondition.LISTED
            proposers.append(propose_bonus(name=name, condition=listed, amounts=amounts))
    for propose in proposers:
        fingerprint = propose(study).fingerprint
        store_plan(study=study, propose=propose, fingerprint=fingerprint, planned_by=None)


def pay_until_done(study: Study, panel: PanelServer) -> None:
    """Do what workers, sweeps and the researcher do until nothing is open.

    Workers come back while the panel still works; the researcher looks after every third of them.
    """
    for number in range(1, MOST_PASSES + 1):
        run_worker(study, panel)
        left = PanelAction.objects.filter(study=study).exclude(state=ActionState.CONFIRMED)
        if not left.exists():
            return
        if number % 3:
            continue
        plan_refused_again(study=study)
        if left.filter(state=ActionState.UNCLEAR, kind=ActionKind.BONUS).exists():
            # The panel has had its time. It is asked before anything is sent again.
            panel.wait_until_idle()
            with suppress(PanelAwayError):
                send_again(study=study)
    states = list(PanelAction.objects.filter(study=study).values_list("kind", "state", "problem"))
    pytest.fail(f"not done after {MOST_PASSES} passes: {states}")


@pytest.mark.services
@pytest.mark.slow
@settings(
    max_examples=examples(few=14, many=300),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(people=PEOPLE, faults=FAULTS, lag=st.integers(0, 4), same=st.booleans())
def test_everyone_is_paid_once_whatever_goes_wrong(
    shared_database: str, panel: PanelServer, settings: Any, people, faults, lag, same
) -> None:
    settings.PANEL_TIMEOUT_SECONDS = TIMEOUT
    settings.PANEL_ATTEMPTS = 2
    panel.submissions.clear()
    panel.ledger.clear()
    panel.faults.clear()
    study = make_panel_study(panel)
    expected: Counter[tuple[str, str, int]] = Counter()
    bonuses: dict[str, dict[str, int]] = {"first": {}, "second": {}}
    for number, (decision, names) in enumerate(people):
        reference = f"s{study.pk}-{number}"
        rejected = decision == PayDecision.REJECTED
        submission = make_paid(
            study,
            panel,
            reference,
            pay_decision=decision,
            ground="low_effort" if rejected else "",
        )
        if decision == PayDecision.APPROVED:
            expected[(reference, "reward", panel.reward)] += 1
        for name in sorted(names):
            amount = 150 if same or name == "first" else 75
            bonuses[name][submission.public_id] = amount
            if decision == PayDecision.APPROVED:
                expected[(reference, "bonus", amount)] += 1
    plan_everything(study, bonuses)
    panel.faults.extend(faults)
    panel.lag = lag

    pay_until_done(study, panel)
    panel.wait_until_idle()

    assert Counter(panel.ledger) == expected
    ledger = Counter(
        (action.reference, "bonus" if action.kind == "bonus" else "reward", action.amount_minor)
        for action in PanelAction.objects.filter(study=study, state=ActionState.CONFIRMED)
        if action.kind != ActionKind.REJECT
    )
    assert ledger == Counter(panel.ledger)
    for number, (decision, _names) in enumerate(people):
        status = panel.submissions[f"s{study.pk}-{number}"].status
        assert (
            status
            == {
                PayDecision.APPROVED: "APPROVED",
                PayDecision.REJECTED: "REJECTED",
                PayDecision.WAITING: "AWAITING REVIEW",
            }[decision]
        )


def test_a_stand_in_that_is_asked_twice_pays_a_bonus_twice(panel: PanelServer) -> None:
    """The property above means something only because its panel does not forgive."""
    panel.add("one")
    panel.batches["batch1"] = {"one": 150}
    for _ in range(2):
        panel.answer("POST", "bulk-bonus-payments/batch1/pay/", {}, {})
    assert panel.paid("bonus") == {"one": 2}
