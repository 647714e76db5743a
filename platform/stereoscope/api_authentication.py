"""Who asks: a token in the header, with what it is good for."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied, Throttled
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from annotation.common.limits import client_address, is_over_limit
from stereoscope.api_tokens import find_token
from stereoscope.models import ApiToken, Scope

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
