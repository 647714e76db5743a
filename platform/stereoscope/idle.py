"""An account that nobody uses any more signs itself out."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponseBase

SEEN = "seen_at"
#: How exactly the last use is known: not every request stores the session.
EXACT_SECONDS = 60
#: Asked for by pages themselves, again and again: nobody has to sit before them.
ASKED_BY_PAGES = ("live", "flags", "agreement-live")


class IdleSignOut:
    """End a session after SESSION_IDLE_MINUTES without a page that somebody asked for."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        limit = 60 * settings.SESSION_IDLE_MINUTES
        if limit and settings.SESSION_COOKIE_NAME in request.COOKIES:
            now = int(time.time())
            seen = request.session.get(SEEN)
            if seen is not None and now - seen > limit:
                logout(request)
            elif (
                not _is_asked_by_page(request)
                and (seen is None or abs(now - seen) > EXACT_SECONDS)
                and request.user.is_authenticated
            ):
                request.session[SEEN] = now
        return self.get_response(request)


def _is_asked_by_page(request: HttpRequest) -> bool:
    return request.path.rstrip("/").rpartition("/")[2] in ASKED_BY_PAGES


def note_use(sender: Any, request: HttpRequest, **_: Any) -> None:
    """Begin to count at each sign-in."""
    request.session[SEEN] = int(time.time())
