"""Who asks: a token in the header, with what it is good for."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.authentication import TokenAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from stereoscope.api_tokens import find_token
from stereoscope.models import ApiToken, Scope

PAYMENTS = "study-payment"


class ApiTokenAuthentication(TokenAuthentication):
    """``Authorization: Token …``. A token that lacks the scope is known, and refused with 403."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        found = super().authenticate(request)
        if found is None:
            return None
        _user, token = found
        wanted = find_scope(request)
        if wanted not in token.scopes:
            raise PermissionDenied(
                f"The token “{token.name}” is not for this: expected the scope “{wanted}”."
            )
        return found

    def authenticate_credentials(self, key: str) -> tuple[Any, Any]:
        token = find_token(key)
        if token is None or not token.user.is_active:
            raise AuthenticationFailed("Invalid token.")
        if token.expires_at <= timezone.now():
            raise AuthenticationFailed("The token has expired. Ask for a new one.")
        return token.user, token


def find_scope(request: Request) -> Scope:
    """Return the scope that a request takes. To look at payments takes their own, too."""
    match = getattr(request._request, "resolver_match", None)
    if match is not None and match.url_name and match.url_name.startswith(PAYMENTS):
        return Scope.PAY
    return Scope.READ if request.method in SAFE_METHODS else Scope.WRITE
