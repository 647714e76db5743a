"""Whoever has turned on a second factor gives it after the password, before anything else."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django_otp import DEVICE_ID_SESSION_KEY
from django_otp.plugins.otp_totp.models import TOTPDevice

#: In the session: whether this sign-in has to be completed, by a code or by setting one up.
ASKED, MISSING = "second_factor", "second_factor_missing"
OPEN = ("second-factor", "security", "admin:logout", "annotators:logout")


def note_sign_in(sender: Any, request: HttpRequest, user: Any, **_: Any) -> None:
    """Note at each sign-in what is asked for. One query."""
    has_device = TOTPDevice.objects.filter(user=user, confirmed=True).exists()
    request.session[ASKED] = has_device
    request.session[MISSING] = settings.SECOND_FACTOR_REQUIRED and user.is_staff and not has_device


class SecondFactor:
    """Lead to the page that asks for a code. The API answers 403; tokens need no second factor."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self.open = {reverse(name) for name in OPEN}

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if settings.SESSION_COOKIE_NAME not in request.COOKIES or request.path in self.open:
            return self.get_response(request)
        session = request.session
        is_asked = session.get(ASKED) and not session.get(DEVICE_ID_SESSION_KEY)
        if not (is_asked or session.get(MISSING)) or not request.user.is_authenticated:
            return self.get_response(request)
        if request.path.startswith("/api/"):
            detail = "The sign-in of this session lacks its second factor."
            # Commands load this file too; the framework of the API costs them a tenth of a second.
            from stereoscope.api.errors import answer_problem

            return answer_problem(HTTPStatus.FORBIDDEN, detail)
        page = reverse("second-factor" if is_asked else "security")
        return redirect(f"{page}?{urlencode({'next': request.get_full_path()})}")
