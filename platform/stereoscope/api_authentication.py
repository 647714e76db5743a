"""Tokens of the API, and who asks with one."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Collection
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied, Throttled
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from annotation.audit.record import record
from annotation.common.limits import client_address, is_over_limit
from annotation.models import AuditAction
from stereoscope.models import ApiToken, Scope

# --- Tokens of the API: made, shown once, looked up by their digest

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


# --- Authentication

PAYMENTS = "study-payment"
WRONG = "wrong_token"
MINUTE = 60


class ApiTokenAuthentication(TokenAuthentication):
    """``Authorization: Token …``. A token that lacks the scope is known, and refused with 403."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        try:
            found = super().authenticate(request)
        except AuthenticationFailed as failure:
            # The throttles of the API come after this, and would never count it.
            if failure.get_codes() == WRONG:
                self._count_wrong(request)
            raise
        if found is None:
            return None
        _user, token = found
        wanted = find_scope(request)
        if wanted not in token.scopes:
            raise PermissionDenied(
                f"The token “{token.name}” is not for this: expected the scope “{wanted}”."
            )
        return found

    def _count_wrong(self, request: Request) -> None:
        """Refuse one wrong token too many; a right one of the same client is taken all the same."""
        if is_over_limit(
            "wrong-token",
            client_address(request._request),
            most=settings.WRONG_TOKENS_PER_MINUTE,
            seconds=MINUTE,
        ):
            raise Throttled(wait=MINUTE, detail="Too many wrong tokens came from this address.")

    def authenticate_credentials(self, key: str) -> tuple[Any, Any]:
        token = find_token(key)
        if token is None or not token.user.is_active:
            raise AuthenticationFailed("Invalid token.", code=WRONG)
        if token.expires_at <= timezone.now():
            raise AuthenticationFailed("The token has expired. Ask for a new one.")
        return token.user, token


def find_scope(request: Request) -> Scope:
    """Return the scope that a request takes. To look at payments takes their own, too."""
    match = getattr(request._request, "resolver_match", None)
    if match is not None and match.url_name and match.url_name.startswith(PAYMENTS):
        return Scope.PAY
    return Scope.READ if request.method in SAFE_METHODS else Scope.WRITE
