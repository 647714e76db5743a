"""Messages that panels send: the address, signatures and dates, each counted once."""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from annotation.common.strict_json import JsonRefused, read_strict_json
from annotation.models import (
    ActionKind,
    PanelAction,
    PanelEvent,
    PanelRecord,
    PanelSettings,
    PanelStatus,
    ParticipantIdentity,
    Submission,
)
from annotation.panels.base import PanelSubmission
from annotation.panels.prolific_client import read_status
from annotation.panels.reconciliation import EARLY, OPEN, apply_status, confirm_by_status
from annotation.panels.registry import PANELS

# --- Messages that a panel sends by itself: signed, dated, and each counted once
#
# A message is a hint, the panel's list is the truth: a status may confirm what was asked for, and
# nothing is ever sent because of one. Bodies are read and forgotten; they name people.

LARGEST_BODY = 64_000
STATUS_CHANGE = "submission.status.change"


class EventRefused(Exception):  # noqa: N818 - an answer, not a fault
    """A message that is not taken; ``status`` is the HTTP status of the answer."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@dataclass(frozen=True)
class Event:
    """A verified message. ``variables`` name the secrets that it may have been signed with."""

    event_id: str
    kind: str
    reference: str
    status: str
    happened_at: datetime
    variables: frozenset[str]


def read_event(*, panel: str, headers: Mapping[str, str], body: bytes) -> Event:
    """Verify and read a message. Raises `EventRefused` with nothing of it kept.

    The signature is base64(HMAC-SHA256(secret, timestamp + raw body)), of a timestamp that is not
    older or newer than PANEL_EVENT_TOLERANCE_SECONDS.
    """
    timestamp = headers.get("X-Prolific-Request-Timestamp", "")
    event_id = headers.get("X-Event-ID", "")
    if len(body) > LARGEST_BODY:
        raise EventRefused(413, "The message is too large.")
    variables = find_signers(
        panel, timestamp, body, headers.get("X-Prolific-Request-Signature", "")
    )
    if not variables:
        raise EventRefused(403, "The signature is not valid.")
    sent_at = _read_moment(timestamp)
    tolerance = timedelta(seconds=settings.PANEL_EVENT_TOLERANCE_SECONDS)
    if sent_at is None or abs(timezone.now() - sent_at) > tolerance:
        raise EventRefused(403, "The timestamp is too old or too new.")
    if not event_id or len(event_id) > 120:
        raise EventRefused(400, "The message has no id.")
    content = _read_object(body)
    # Events can come in any order; this header says in which they happened.
    happened_at = _read_moment(headers.get("X-Timestamp", "")) or sent_at
    return Event(
        event_id=event_id,
        kind=str(content.get("event_type", ""))[:60],
        reference=str(content.get("resource_id", ""))[:120],
        status=read_status(content.get("status")),
        happened_at=min(happened_at, timezone.now()),
        variables=variables,
    )


def _read_object(body: bytes) -> dict[str, Any]:
    """Return the message. Even a panel's own may hold text that no database takes."""
    try:
        content = read_strict_json(body.decode())
    except JsonRefused as refusal:
        raise EventRefused(400, str(refusal)) from refusal
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise EventRefused(400, "The message is no JSON object.")
    if any("\0" in str(content.get(name)) for name in ("event_type", "resource_id")):
        raise EventRefused(400, "The message holds a null character.")
    return content


def find_signers(panel: str, timestamp: str, body: bytes, signature: str) -> frozenset[str]:
    """Return the variables whose secret gives this signature. One query."""
    found = set()
    for variable, secret in _secrets(panel):
        digest = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
        if hmac.compare_digest(base64.b64encode(digest), signature.encode()):
            found.add(variable)
    return frozenset(found)


@transaction.atomic
def store_event(*, panel: str, event: Event) -> PanelEvent | None:
    """Keep that a message came, and the status that it tells; None for one that came before."""
    submission = _find_submission(panel, event)
    stored, created = PanelEvent.objects.get_or_create(
        panel=panel,
        event_id=event.event_id,
        defaults={
            "kind": event.kind,
            "submission": submission,
            "status": event.status if event.status in PanelStatus.values else "",
            "happened_at": event.happened_at,
        },
    )
    if not created:
        return None
    if submission is None or event.kind != STATUS_CHANGE or not stored.status:
        return stored
    locked = Submission.objects.select_for_update().get(pk=submission.pk)
    if not _is_news(locked, event):
        return stored
    apply_status(submission=locked, status=event.status, at=event.happened_at)
    row = PanelSubmission(event.reference, event.status)
    actions = PanelAction.objects.filter(submission=locked, state__in=OPEN)
    for action in actions.exclude(kind=ActionKind.BONUS):
        confirm_by_status(action, row)
    return stored


def _is_news(submission: Submission, event: Event) -> bool:
    """Whether a status is newer than what is known. What has ended is never under way again."""
    record = PanelRecord.objects.filter(submission=submission).first()
    if record is None:
        return True
    if event.status in EARLY and record.status not in EARLY:
        return False
    return event.happened_at > record.status_at


def _find_submission(panel: str, event: Event) -> Submission | None:
    """Return the submission that a message is about, in a study with the secret of the message."""
    identity = (
        ParticipantIdentity.objects.filter(
            panel=panel,
            session_id=event.reference,
            study__panel_settings__webhook_secret_variable__in=event.variables,
        )
        .exclude(session_id="")
        .first()
    )
    if identity is None:
        return None
    return Submission.objects.filter(
        study=identity.study_id, participant=identity.participant_id
    ).first()


def _secrets(panel: str) -> Iterator[tuple[str, str]]:
    names = (
        PanelSettings.objects.filter(study__panel=panel)
        .exclude(webhook_secret_variable="")
        .values_list("webhook_secret_variable", flat=True)
        .distinct()
    )
    for name in names:
        if secret := os.environ.get(name, ""):
            yield name, secret


def _read_moment(text: str) -> datetime | None:
    """Return a time given in seconds or milliseconds since 1970, or as ISO 8601."""
    try:
        seconds = float(text)
        return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, tz=UTC)
    except (ValueError, OverflowError, OSError):
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None


# --- The address

logger = logging.getLogger(__name__)


@never_cache
@csrf_exempt
@require_POST
def receive_event(request: HttpRequest, panel: str) -> HttpResponse:
    """Take a signed message once; a message that comes again is thanked for all the same."""
    found = PANELS.get(panel)
    if found is None or not found.has_api:
        return HttpResponse(status=404)
    try:
        event = read_event(panel=panel, headers=request.headers, body=request.body)
    except EventRefused as refusal:
        logger.warning("a message of %s was refused: %s", panel, refusal)
        return HttpResponse(str(refusal), status=refusal.status, content_type="text/plain")
    store_event(panel=panel, event=event)
    return HttpResponse(status=204)
