"""How often the API may be asked: by client without an account, by account, and for changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.permissions import SAFE_METHODS
from rest_framework.throttling import UserRateThrottle

if TYPE_CHECKING:  # views import the throttles of the settings
    from rest_framework.request import Request
    from rest_framework.views import APIView


class ChangeRateThrottle(UserRateThrottle):
    """Counts requests that change something: new runs and reports keep workers busy."""

    scope = "change"

    def allow_request(self, request: Request, view: APIView) -> bool:
        return request.method in SAFE_METHODS or super().allow_request(request, view)
