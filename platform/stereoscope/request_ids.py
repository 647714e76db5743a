"""Each request has an id, in its answer and in every log line that belongs to it."""

from __future__ import annotations

import logging
import re
import secrets
import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase

from annotation.common.log_context import logging_as, request_id
from stereoscope.metrics import count_request

logger = logging.getLogger(__name__)
#: A proxy's own id is kept if it cannot be anything else, such as a token of a participant.
GIVEN_ID = re.compile(r"[0-9A-Za-z-]{8,31}")


class RequestIds:
    """Give each request an id, or keep a proxy's; say it in the answer and in every log line.

    With LOG_REQUESTS each answer is a line, by the name of the page: its address may hold a token.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        name = given if GIVEN_ID.fullmatch(given) else secrets.token_hex(8)
        with logging_as(request_id, name):
            begun = time.perf_counter()
            response = self.get_response(request)
            took = time.perf_counter() - begun
            page = request.resolver_match.view_name if request.resolver_match else ""
            count_request(page, str(request.method), response.status_code, took)
            if settings.LOG_REQUESTS:
                fields = {"page": page, "status": response.status_code, "ms": round(1000 * took)}
                logger.info(
                    "%s %s %s", request.method, page or "?", response.status_code,
                    extra={"fields": fields},
                )  # fmt: skip
        response.headers["X-Request-ID"] = name
        return response
