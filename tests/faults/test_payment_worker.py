"""A real worker pays; it is killed in the middle of a request, and the message is lost."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from annotation.models import ActionState, PanelAction
from annotation.panels.action_plan import propose_rewards, store_plan
from annotation.panels.bonuses import BonusCondition, propose_bonus
from tests.annotation.panels.conftest import (  # noqa: F401
    VARIABLE,
    make_paid,
    make_panel_study,
    panel,
)
from tests.faults.conftest import WorkerProcess
from tests.panels_server import TOKEN, Fault, PanelServer

pytestmark = [pytest.mark.services, pytest.mark.slow]


def test_a_killed_worker_and_a_lost_message_pay_nobody_twice(
    worker: WorkerProcess,
    panel: PanelServer,  # noqa: F811
    wait_until: Callable[..., None],
) -> None:
    study = make_panel_study(panel)
    for name in ("a", "b"):
        make_paid(study, panel, name)
    bonus = propose_bonus(
        name="thanks", condition=BonusCondition.APPROVED, amount_minor=150, amounts=None
    )
    for propose in (propose_rewards, bonus):
        fingerprint = propose(study).fingerprint
        store_plan(study=study, propose=propose, fingerprint=fingerprint, planned_by=None)
    # No message was sent: only the worker's own sweep can find the work.
    shutil.rmtree(worker.broker_folder, ignore_errors=True)
    worker.environment |= {
        VARIABLE: TOKEN,
        "PROLIFIC_API_URL": panel.api_url,
        "PANEL_KEY_HOSTS": f"{VARIABLE}=127.0.0.1",
        "PLAIN_LOOPBACK_KEYS": "true",
        "PANEL_PAUSE_SECONDS": "0.01",
        "PANEL_LEASE_SECONDS": "60",
        "PANEL_SETTLE_SECONDS": "1",
        "PANEL_TIMEOUT_SECONDS": "120",
    }
    # The panel approves both, and says nothing for so long that the worker is killed meanwhile.
    panel.faults.append(Fault(drop=True, works=True, hang=60.0, only="bulk-approve"))
    worker.start()
    wait_until(lambda: panel.count("bulk-approve") == 1)
    worker.kill()
    stuck = PanelAction.objects.filter(kind="approve", state=ActionState.SENT)
    assert stuck.count() == 2
    stuck.update(claimed_at=timezone.now() - timedelta(days=1))  # its lease runs out

    worker.start()
    wait_until(lambda: not PanelAction.objects.exclude(state=ActionState.CONFIRMED).exists())
    assert panel.paid("reward") == {"a": 1, "b": 1}
    assert panel.paid("bonus") == {"a": 1, "b": 1}
    assert panel.count("bulk-approve") == 1
    assert "Traceback" not in worker.log.read_text()
