"""Tokens of the API: made, shown once, looked up by their digest."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from datetime import timedelta

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from annotation.audit.record import record
from annotation.models import AuditAction
from stereoscope.models import ApiToken, Scope

PREFIX = "st_"
USUAL_DAYS, MOST_DAYS = 90, 366
#: How exactly the last use is known: not every request writes.
USE_SECONDS = 60


@transaction.atomic
def create_token(
    *, user: User, name: str, scopes: Collection[str] = (Scope.READ,), days: int = USUAL_DAYS
) -> tuple[ApiToken, str]:
    """Return a new token and its key, which nobody can read again.

    Raises `ValidationError` for no or unknown scopes and for more than 366 days.
    """
    if not scopes or set(scopes) - set(Scope.values):
        raise ValidationError(f"Choose among the scopes {', '.join(Scope.values)}.")
    if not 1 <= days <= MOST_DAYS:
        raise ValidationError(f"Enter a number of days from 1 to {MOST_DAYS}, not {days}.")
    key = PREFIX + secrets.token_urlsafe(32)
    token = ApiToken.objects.create(
        user=user,
        name=name,
        digest=digest_of(key),
        scopes=sorted(scopes),
        expires_at=timezone.now() + timedelta(days=days),
    )
    detail = f"API token for {', '.join(sorted(scopes))}, {days} days"
    record(AuditAction.ACCESS, f"account {user}", detail=detail)
    return token, key


def find_token(key: str) -> ApiToken | None:
    """Return the token of a key, expired ones too; its use is noted once a minute. One query."""
    token = ApiToken.objects.select_related("user").filter(digest=digest_of(key)).first()
    now = timezone.now()
    if token is not None and (
        token.last_used_at is None or token.last_used_at < now - timedelta(seconds=USE_SECONDS)
    ):
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token


def digest_of(key: str) -> str:
    """Return the SHA-256 of a key; it is random, so that it needs neither salt nor stretching."""
    return hashlib.sha256(key.encode()).hexdigest()
