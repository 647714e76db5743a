"""The client against a panel that is busy, broken, slow or gone: what is repeated, what never."""

from __future__ import annotations

import logging

import pytest

from annotation.models import PanelSettings, Study
from annotation.panels.errors import (
    PanelAwayError,
    PanelRefusedError,
    PanelSetupError,
    PanelUnclearError,
)
from annotation.panels.places import change_panel_status, increase_places, read_panel_study
from annotation.panels.prolific_client import ProlificClient, connect_prolific
from tests.annotation.panels.conftest import LONG_REASON, VARIABLE
from tests.panels_server import Fault, PanelServer, serve_panel


@pytest.fixture
def client(panel: PanelServer) -> ProlificClient:
    stored = PanelSettings(panel_study_id="study1", api_token_variable=VARIABLE)
    return connect_prolific(stored, patient=True)


@pytest.mark.parametrize(
    "fault",
    [Fault(status=429, retry_after=0.0), Fault(status=500), Fault(status=503), Fault(drop=True)],
)
def test_reading_is_tried_again(panel, client, fault) -> None:
    panel.add("one")
    panel.faults.extend([fault] * 4)
    assert [row.reference for row in client.list_submissions()] == ["one"]
    assert panel.count("submissions") == 5


def test_reading_gives_up_after_its_attempts(panel, client) -> None:
    panel.faults.extend([Fault(status=500)] * 5)
    with pytest.raises(PanelAwayError, match="500"):
        client.list_submissions()
    assert panel.count("submissions") == 5


@pytest.mark.parametrize("fault", [Fault(status=500), Fault(drop=True), Fault(status=502)])
def test_a_payment_in_doubt_is_never_tried_again(panel, client, fault) -> None:
    panel.add("one")
    panel.batches["batch1"] = {"one": 150}
    for call in (
        lambda: client.pay_bonuses("batch1"),
        lambda: client.approve(["one"]),
        lambda: client.approve(["one", "two"]),
        lambda: client.reject("one", category="LOW_EFFORT", message=LONG_REASON),
    ):
        asked = len(panel.requests)
        panel.faults.append(fault)
        with pytest.raises(PanelUnclearError):
            call()
        assert len(panel.requests) == asked + 1


def test_silence_after_the_work_leaves_a_payment_in_doubt(panel, client, settings) -> None:
    settings.PANEL_TIMEOUT_SECONDS = 0.1
    stored = PanelSettings(panel_study_id="study1", api_token_variable=VARIABLE)
    hasty = connect_prolific(stored, patient=True)
    panel.add("one")
    panel.faults.append(Fault(drop=True, works=True, hang=0.3))
    with pytest.raises(PanelUnclearError, match="in time"):
        hasty.approve(["one"])
    panel.wait_until_idle()
    assert panel.paid("reward") == {"one": 1}


def test_a_payment_that_was_turned_away_for_its_number_is_tried_again(panel, client) -> None:
    panel.add("one")
    panel.faults.extend([Fault(status=429, retry_after=0.01)] * 3)
    client.approve(["one"])
    assert panel.paid("reward") == {"one": 1}


def test_a_panel_that_is_not_there_did_nothing(panel, settings) -> None:
    settings.PROLIFIC_API_URL = "http://127.0.0.1:1/api/v1"
    stored = PanelSettings(panel_study_id="study1", api_token_variable=VARIABLE)
    away = connect_prolific(stored, patient=True)
    with pytest.raises(PanelAwayError, match="cannot be reached"):
        away.pay_bonuses("batch1")


def test_what_the_panel_says_is_passed_on_in_its_words(panel, client) -> None:
    panel.add("one")
    with pytest.raises(PanelRefusedError, match="at least 100 characters") as refusal:
        client.reject("one", category="LOW_EFFORT", message="too short")
    assert refusal.value.status == 400
    with pytest.raises(PanelRefusedError, match="unknown rejection category"):
        client.reject("one", category="MEMORY_CHECK", message=LONG_REASON)
    client.approve(["one"])
    with pytest.raises(PanelRefusedError, match="approved already"):
        client.approve(["one"])


def test_long_lists_come_page_by_page(panel, client) -> None:
    for number in range(201):
        panel.add(f"s{number:03d}", "APPROVED" if number % 2 else "TIMED-OUT")
    listed = client.list_submissions()
    assert len({row.reference for row in listed}) == 201
    assert panel.count("studies/study1/submissions/") == 3
    assert client.count_submissions() == {"APPROVED": 100, "TIMED-OUT": 101}


def test_bonuses_are_written_in_units_and_paid_in_two_steps(panel, client) -> None:
    panel.add("one")
    panel.add("two")
    batch = client.prepare_bonuses({"one": 150, "two": 5}, currency="GBP")
    assert panel.batches[batch] == {"one": 150, "two": 5}
    assert not panel.ledger, "laying a batch down pays nothing"
    client.pay_bonuses(batch)
    assert panel.ledger == [("one", "bonus", 150), ("two", "bonus", 5)]


def test_somebody_screened_out_gets_a_share(panel, client) -> None:
    panel.add("one", "ACTIVE")
    client.pay_share("one", code="ABC", percent=25, message="Thank you.")
    assert panel.submissions["one"].status == "PARTIALLY APPROVED"
    assert panel.ledger == [("one", "share", 50)]


@pytest.mark.parametrize(
    ("stored", "says"),
    [
        ({"api_token_variable": VARIABLE}, "no id at Prolific"),
        ({"panel_study_id": "study1"}, "No environment variable"),
        ({"panel_study_id": "s", "api_token_variable": "PROLIFIC_NOT_SET"}, "is not set"),
    ],
)
def test_settings_that_lack_something_are_named(panel, settings, stored, says) -> None:
    settings.PANEL_KEY_HOSTS = {"PROLIFIC_NOT_SET": "127.0.0.1", VARIABLE: "127.0.0.1"}
    with pytest.raises(PanelSetupError, match=says):
        connect_prolific(PanelSettings(**stored), patient=True)


def test_a_token_goes_to_its_own_host_alone(panel, settings) -> None:
    stored = PanelSettings(panel_study_id="study1", api_token_variable=VARIABLE)
    host = panel.address.removeprefix("http://")
    for hosts in ({VARIABLE: "api.prolific.com"}, {"PROLIFIC_TOKEN": "127.0.0.1"}, {}):
        settings.PANEL_KEY_HOSTS = hosts
        with pytest.raises(PanelSetupError, match=f"{VARIABLE} is not meant for {host}"):
            connect_prolific(stored, patient=True)
    settings.PANEL_KEY_HOSTS = {VARIABLE: host}
    connect_prolific(stored, patient=True).count_submissions()
    assert len(panel.requests) == 1


def test_a_token_goes_by_https_alone_but_for_this_machine(panel, settings) -> None:
    stored = PanelSettings(panel_study_id="study1", api_token_variable=VARIABLE)
    settings.PLAIN_LOOPBACK_KEYS = False
    with pytest.raises(PanelSetupError, match="by https alone"):
        connect_prolific(stored, patient=True)
    assert not panel.requests


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_leads_nowhere(panel, client, status) -> None:
    with serve_panel() as elsewhere:
        panel.add("one")
        panel.faults.extend([Fault(status=status, location=elsewhere.api_url)] * 2)
        with pytest.raises(PanelRefusedError, match=str(status)):
            client.count_submissions()
        with pytest.raises(PanelRefusedError, match=str(status)):
            client.approve(["one"])
        assert elsewhere.requests == []
    assert len(panel.requests) == 2


def test_neither_errors_nor_logs_name_anybody(panel, client, caplog) -> None:
    caplog.set_level(logging.DEBUG)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    logging.getLogger("httpcore").setLevel(logging.WARNING)
    for fault in (Fault(status=500), Fault(drop=True), Fault(status=400)):
        panel.faults.append(fault)
        with pytest.raises((PanelUnclearError, PanelRefusedError)) as problem:
            client.approve(["person-of-the-panel"])
        assert "person-of-the-panel" not in str(problem.value)
    assert "person-of-the-panel" not in caplog.text
    assert "stand-in-token" not in caplog.text


def test_the_platforms_settings_keep_addresses_of_requests_out_of_the_log() -> None:
    from stereoscope import settings as product

    for name in ("httpx", "httpcore"):
        assert product.LOGGING["loggers"][name]["level"] == "WARNING"


@pytest.mark.django_db
def test_places_only_become_more(study: Study, panel: PanelServer) -> None:
    from django.core.exceptions import ValidationError

    assert increase_places(study=study, total=120) == 120
    with pytest.raises(ValidationError, match="expected more"):
        increase_places(study=study, total=80)
    assert panel.places == 120


@pytest.mark.django_db
def test_the_panels_study_is_paused_and_started(study: Study, panel: PanelServer) -> None:
    change_panel_status(study=study, action="PAUSE")
    assert read_panel_study(study=study).status == "PAUSED"
    change_panel_status(study=study, action="START")
    assert panel.status == "ACTIVE"
