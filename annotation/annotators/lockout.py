"""The page that somebody sees whose log-in is locked after too many failures."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from annotation.annotators.notices import locked_out


def tell_locked_out(
    request: HttpRequest, original_response: Any = None, credentials: Any = None
) -> HttpResponse:
    """Answer for every log-in page, as `AXES_LOCKOUT_CALLABLE`; names nobody."""
    notice = locked_out()
    return render(
        request, "annotation/annotators/notice.html", {"notice": notice}, status=notice.status
    )
