"""The pages of a second factor: the code at sign-in, and how it is turned on and off."""

from __future__ import annotations

from typing import Any, cast

import django_otp
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from stereoscope.second_factor import devices
from stereoscope.second_factor.middleware import ASKED, MISSING


@sensitive_post_parameters("code")
@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def check(request: HttpRequest) -> HttpResponse:
    """Ask for a code of the authenticator, or a recovery code; wrong ones slow down guessing."""
    user = cast(User, request.user)
    problem = ""
    if request.method == "POST":
        if _take_code(request, user):
            return redirect(_find_next(request, user))
        problem = _("This code is not right, or it was used before. Wait for the next one.")
    context = {"problem": problem, "next": _find_next(request, user)}
    return render(
        request, "stereoscope/second_factor.html", context, status=422 if problem else 200
    )


@sensitive_post_parameters("code")
@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def security(request: HttpRequest) -> HttpResponse:
    """Turn the second factor on or off, or make new recovery codes: each takes a code."""
    user = cast(User, request.user)
    is_on = devices.has_second_factor(user)
    if is_on and request.session.get(ASKED) and not _is_complete(request):
        return redirect("second-factor")
    context: dict[str, Any] = {
        "is_on": is_on,
        "is_missing": request.session.get(MISSING, False),
        "is_connected": user.external_logins.filter(issuer=settings.OIDC_ISSUER).exists(),
    }
    if request.method == "POST":
        context |= _change(request, user) if is_on else _turn_on(request, user)
        context["is_on"] = devices.has_second_factor(user)
    if not context["is_on"]:
        device = devices.begin(user)
        context |= {
            "secret": devices.show_secret(device),
            "address": device.config_url,
            "picture": devices.draw_code(device),
        }
    status = 422 if context.get("problem") else 200
    return render(request, "stereoscope/security.html", context, status=status)


def _turn_on(request: HttpRequest, user: User) -> dict[str, Any]:
    device = devices.begin(user)
    if not device.verify_token(_read_code(request)):
        return {"problem": _("This code is not right. Check the clock of the device.")}
    codes = devices.confirm(device)
    django_otp.login(request, device)
    request.session[MISSING] = False
    return {"codes": codes}


def _change(request: HttpRequest, user: User) -> dict[str, Any]:
    if not _take_code(request, user):
        return {"problem": _("This code is not right, or it was used before.")}
    if request.POST.get("do") == "renew":
        return {"codes": devices.renew_recovery_codes(user)}
    devices.turn_off(user)
    request.session[ASKED] = False
    messages.success(request, _("The second factor is turned off."))
    return {}


def _take_code(request: HttpRequest, user: User) -> bool:
    device = devices.match_code(user, _read_code(request))
    if device is None:
        return False
    django_otp.login(request, device)
    return True


def _read_code(request: HttpRequest) -> str:
    return "".join(request.POST.get("code", "").split()).lower()[:40]


def _is_complete(request: HttpRequest) -> bool:
    return bool(request.session.get(django_otp.DEVICE_ID_SESSION_KEY))


def _find_next(request: HttpRequest, user: User) -> str:
    wanted = request.POST.get("next") or request.GET.get("next", "")
    hosts = {request.get_host()}
    if url_has_allowed_host_and_scheme(wanted, hosts, require_https=request.is_secure()):
        return wanted
    return reverse("admin:index" if user.is_staff else "annotators:home")
