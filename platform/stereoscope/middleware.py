"""One content security policy for participants and reports, a wider one for the admin theme."""

from __future__ import annotations

from csp.middleware import CSPMiddleware
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

# The admin theme and the API's documentation page bring scripts that evaluate expressions.
WIDER_PREFIXES = ("/admin/", "/api/docs/")


class ContentSecurityPolicy(CSPMiddleware):
    """Send the strict policy everywhere but under the admin and the API's documentation page."""

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        if request.path.startswith(WIDER_PREFIXES) and not hasattr(response, "_csp_update"):
            response._csp_update = settings.ADMIN_CONTENT_SECURITY_POLICY  # type: ignore[attr-defined]
        return super().process_response(request, response)
