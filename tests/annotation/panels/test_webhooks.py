"""Messages of a panel: signed, dated, counted once, in any order, and never a reason to pay."""

from __future__ import annotations

import itertools
import json
import random
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import (
    ActionState,
    PanelAction,
    PanelEvent,
    PanelRecord,
    PanelSettings,
    Submission,
    SubmissionState,
)
from annotation.panels.action_claims import claim_actions, mark_unclear, note_call
from annotation.panels.action_plan import propose_rewards
from tests.annotation.panels.conftest import SECRET, SECRET_VARIABLE
from tests.annotation.panels.test_planning import store
from tests.panels_server import sign_event

pytestmark = pytest.mark.django_db

ADDRESS = "/panels/prolific/events/"
EVENT_IDS = itertools.count()


def send(reference: str, status: str, *, minutes_ago: float = 0.0, **changes: str):
    """Send a message about a status that came about so long ago, as the panel does."""
    now = timezone.now()
    happened = now - timedelta(minutes=minutes_ago)
    body = json.dumps(
        {
            "event_type": changes.get("kind", "submission.status.change"),
            "resource_id": reference,
            "participant_id": f"person-{reference}",
            "status": status,
        }
    ).encode()
    timestamp = changes.get("timestamp", str(int(now.timestamp())))
    secret = changes.get("secret", SECRET)
    return Client().post(
        ADDRESS,
        body,
        content_type="application/json",
        headers={
            "X-Prolific-Request-Timestamp": timestamp,
            "X-Prolific-Request-Signature": changes.get(
                "signature", sign_event(secret, timestamp, body)
            ),
            "X-Event-ID": changes.get("event_id", f"e{next(EVENT_IDS)}"),
            "X-Timestamp": happened.isoformat(),
        },
    )


def status_of(submission: Submission) -> str:
    return PanelRecord.objects.get(submission=submission).status


@pytest.mark.services
def test_a_status_is_kept_with_the_submission(study, add, panel) -> None:
    submission = add("a")
    assert send("a", "AWAITING_REVIEW").status_code == 204
    assert status_of(submission) == "AWAITING REVIEW"
    event = PanelEvent.objects.get()
    assert (event.submission, event.status) == (submission, "AWAITING REVIEW")


@pytest.mark.parametrize(
    "changes",
    [
        {"secret": "another secret"},
        {"signature": ""},
        {"signature": "ähnlich"},
        {"timestamp": "100"},
        {"timestamp": str(int(timezone.now().timestamp()) + 86_400)},
        {"timestamp": "nonsense"},
    ],
)
def test_a_message_that_is_not_the_panels_own_is_refused(study, add, panel, changes) -> None:
    add("a")
    assert send("a", "RETURNED", **changes).status_code == 403
    assert not PanelRecord.objects.exists()
    assert not PanelEvent.objects.exists()


def test_a_changed_body_is_refused(study, add, panel) -> None:
    add("a")
    timestamp = str(int(timezone.now().timestamp()))
    answer = Client().post(
        ADDRESS,
        b'{"event_type":"submission.status.change","resource_id":"a","status":"RETURNED"}',
        content_type="application/json",
        headers={
            "X-Prolific-Request-Timestamp": timestamp,
            "X-Prolific-Request-Signature": sign_event(SECRET, timestamp, b"{}"),
            "X-Event-ID": "e",
        },
    )
    assert answer.status_code == 403


@pytest.mark.services
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"no json",
        b"\xff\xfe",
        b'{"event_type": "half of a pair: \\ud800"}',
        b'{"resource_id": "\\udfff"}',
        b'{"event_type": "nothing: \\u0000"}',
        b'{"resource_id": "a", "resource_id": "b"}',
        b'{"event_type": ' * 60 + b"1" + b"}" * 60,
        b"[" * 30_000 + b"]" * 30_000,
    ],
)
def test_a_signed_message_that_cannot_be_read_is_refused(study, panel, body) -> None:
    timestamp = str(int(timezone.now().timestamp()))
    headers = {
        "X-Prolific-Request-Timestamp": timestamp,
        "X-Prolific-Request-Signature": sign_event(SECRET, timestamp, body),
        "X-Event-ID": "e",
    }
    answer = Client().post(ADDRESS, body, content_type="application/json", headers=headers)
    assert answer.status_code == 400
    assert not PanelEvent.objects.exists()


def test_only_panels_that_send_messages_have_an_address(db) -> None:
    assert Client().post("/panels/link/events/").status_code == 404
    assert Client().post("/panels/nobody/events/").status_code == 404
    assert Client().get(ADDRESS).status_code == 405


@pytest.mark.services
def test_a_message_that_comes_again_counts_once(study, add, panel) -> None:
    submission = add("a")
    for _ in range(3):
        assert send("a", "ACTIVE", event_id="same").status_code == 204
    send("a", "AWAITING REVIEW")
    assert send("a", "ACTIVE", event_id="same").status_code == 204
    assert PanelEvent.objects.count() == 2
    assert status_of(submission) == "AWAITING REVIEW"


@pytest.mark.services
@pytest.mark.parametrize("seed", range(12))
def test_the_order_of_messages_does_not_matter(study, add, panel, seed) -> None:
    submission = add("a")
    story = ["RESERVED", "ACTIVE", "TIMED-OUT", "AWAITING REVIEW", "REJECTED", "APPROVED"]
    messages = [(status, 60.0 - place) for place, status in enumerate(story)] * 2
    random.Random(seed).shuffle(messages)
    for status, minutes_ago in messages:
        send("a", status, minutes_ago=minutes_ago)
    assert status_of(submission) == "APPROVED"


@pytest.mark.services
def test_returning_frees_the_places_that_were_held(study, add, panel) -> None:
    held = timezone.now() + timedelta(minutes=30)
    rating = add("a", state=SubmissionState.IN_PROGRESS, finished_at=None, reserved_until=held)
    finished = add("b")
    send("a", "RETURNED")
    send("b", "RETURNED")
    rating.refresh_from_db()
    finished.refresh_from_db()
    assert rating.reserved_until is None
    assert finished.state == SubmissionState.FINISHED, "what is finished is left to a person"


@pytest.mark.services
def test_timing_out_only_leaves_a_mark(study, add, panel) -> None:
    held = timezone.now() + timedelta(minutes=30)
    rating = add("a", state=SubmissionState.IN_PROGRESS, finished_at=None, reserved_until=held)
    send("a", "TIMED-OUT")
    rating.refresh_from_db()
    assert rating.reserved_until == held
    assert status_of(rating) == "TIMED-OUT"


@pytest.mark.services
def test_a_message_confirms_what_was_asked_for(study, add, panel) -> None:
    add("a")
    store(study, propose_rewards)
    actions = claim_actions(study=study, kind="approve", limit=1)
    note_call(actions)
    mark_unclear(actions, "No answer.")
    send("a", "AWAITING REVIEW", minutes_ago=2)
    assert PanelAction.objects.get().state == ActionState.UNCLEAR
    send("a", "APPROVED")
    assert PanelAction.objects.get().state == ActionState.CONFIRMED
    assert not panel.requests, "nothing is sent because of a message"


def test_a_message_about_somebody_unknown_is_thanked_for(study, panel) -> None:
    assert send("nobody", "APPROVED").status_code == 204
    assert PanelEvent.objects.get().submission is None


@pytest.mark.services
def test_a_secret_reaches_the_studies_that_name_it_and_no_others(
    study, add, panel, monkeypatch
) -> None:
    submission = add("a")
    PanelSettings.objects.update(webhook_secret_variable="PROLIFIC_OTHER_SECRET")
    monkeypatch.setenv("PROLIFIC_OTHER_SECRET", "another secret")
    assert send("a", "RETURNED").status_code == 403
    assert send("a", "RETURNED", secret="another secret").status_code == 204
    assert status_of(submission) == "RETURNED"


def test_a_secret_that_is_not_set_opens_nothing(study, add, panel, monkeypatch) -> None:
    add("a")
    monkeypatch.delenv(SECRET_VARIABLE)
    assert send("a", "RETURNED", secret="").status_code == 403


def test_nothing_about_a_person_is_kept_or_logged(study, add, panel, caplog) -> None:
    add("person-of-the-panel")
    send("person-of-the-panel", "ACTIVE")
    send("person-of-the-panel", "ACTIVE", secret="wrong")
    assert "person-of-the-panel" not in caplog.text
    for event in PanelEvent.objects.values():
        assert "person-of-the-panel" not in str(event)


def test_other_kinds_of_messages_change_nothing(study, add, panel) -> None:
    add("a")
    assert send("a", "RETURNED", kind="study.status.change").status_code == 204
    assert not PanelRecord.objects.exists()
