"""The money of a study over HTTP: paid only as proposed, by those who may, and nobody named."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import Permission, User

from annotation.models import PanelAction, Study
from annotation.panels.payment_service import pay_study
from tests.annotation.panels.conftest import add, panel  # noqa: F401
from tests.annotation.panels.conftest import study as panel_study  # noqa: F401


@pytest.fixture
def study(panel_study, alice, bob) -> Study:  # noqa: F811
    Study.objects.update(owner=alice)
    panel_study.memberships.create(user=bob)
    alice.user_permissions.add(Permission.objects.get(codename="export_payments"))
    return panel_study


@pytest.fixture
def payer(study, alice) -> User:
    return User.objects.get(pk=alice.pk)


def address(study: Study, what: str = "") -> str:
    return f"/api/v1/studies/{study.public_id}/payments/{what}"


def test_a_program_pays_what_it_was_proposed(api, study, payer, add, panel) -> None:  # noqa: F811
    add("session-a")
    add("session-b")
    client = api(payer)
    money = client.get(address(study, "money/")).json()
    assert money["rewards"] == {"people": 2, "amount_minor": 400, "left_out": {}}
    asked = {"what": "rewards", "people": 2, "amount_minor": 400}
    assert client.post(address(study, "pay/"), asked, format="json").status_code == 202
    assert client.post(address(study, "pay/"), asked, format="json").status_code == 409
    pay_study(study=study)
    assert panel.paid("reward") == {"session-a": 1, "session-b": 1}
    assert client.get(address(study, "money/")).json()["paid_minor"] == 400
    rows = client.get(address(study)).json()["results"]
    assert {row["state"] for row in rows} == {"confirmed"}
    assert "session-a" not in str(rows)


@pytest.mark.parametrize("changes", [{"people": 3}, {"amount_minor": 1}])
def test_another_number_or_sum_pays_nobody(api, study, payer, add, panel, changes) -> None:  # noqa: F811
    add("a")
    asked = {"what": "rewards", "people": 1, "amount_minor": 200, **changes}
    answer = api(payer).post(address(study, "pay/"), asked, format="json")
    assert answer.status_code == 409
    assert "Proposed are 1 people and 200" in answer.json()["detail"]
    assert not PanelAction.objects.exists()


def test_members_without_the_right_see_no_payments(api, study, alice, bob, charlie, dora) -> None:
    for what in ("", "money/"):
        assert api(bob).get(address(study, what)).status_code == 403
        assert api(charlie).get(address(study, what)).status_code == 404
        assert api(dora).get(address(study, what)).status_code == 403
        assert api(None).get(address(study, what)).status_code == 401


def test_nonsense_is_named(api, study, payer) -> None:
    answer = api(payer).post(address(study, "pay/"), {"what": "gifts"}, format="json")
    assert answer.status_code == 400
    assert {error["field"] for error in answer.json()["errors"]} == {
        "what",
        "people",
        "amount_minor",
    }
