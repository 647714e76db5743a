"""How often the API may be asked: by client without an account, by account, and for changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.permissions import SAFE_METHODS
from rest_framework.throttling import AnonRateThrottle, UserRateThrottle

from annotation.common.limits import client_address

if TYPE_CHECKING:  # views import the throttles of the settings
    from rest_framework.request import Request
    from rest_framework.views import APIView


class ClientThrottle(AnonRateThrottle):
    """Counts clients without an account, by address."""

    def get_ident(self, request: Request) -> str:
        return client_address(request._request)


class AccountThrottle(UserRateThrottle):
    """Counts accounts, and by address clients without one."""

    get_ident = ClientThrottle.get_ident


class ChangeThrottle(AccountThrottle):
    """Counts requests that change something: new runs and reports keep workers busy."""

    scope = "change"

    def allow_request(self, request: Request, view: APIView) -> bool:
        return request.method in SAFE_METHODS or super().allow_request(request, view)
