"""Signing in at a provider of accounts, and connecting an account to it: there, and back."""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import authenticate, login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from stereoscope.oidc.accounts import connect_account, disconnect_account, find_account
from stereoscope.oidc.provider import Begun, ProviderError, address_to_sign_in, redeem

logger = logging.getLogger(__name__)
SESSION_KEY = "oidc"
BACKEND = "django.contrib.auth.backends.ModelBackend"


@require_GET
@never_cache
def begin(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider, to sign in."""
    return _send(request, next=request.GET.get("next", ""))


@sensitive_post_parameters("password")
@require_POST
@never_cache
@login_required
def connect(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider, to connect the account that is signed in, or disconnect it.

    To connect takes the password: who finds an open computer gets no lasting way in.
    """
    user = cast(User, request.user)
    if request.POST.get("do") == "disconnect":
        disconnect_account(user=user)
        return redirect("security")
    password = request.POST.get("password", "")
    if authenticate(request, username=user.get_username(), password=password) is None:
        return _refuse(request, "the password to connect an account was wrong")
    return _send(request, account=user.pk)


@require_GET
@never_cache
def finish(request: HttpRequest) -> HttpResponse:
    """Take who comes back from the provider, once for each time that somebody was sent there."""
    kept: dict[str, Any] | None = request.session.pop(SESSION_KEY, None)
    if not settings.OIDC_ISSUER:
        raise Http404
    if kept is None or not constant_time_compare(request.GET.get("state", ""), kept["state"]):
        return _refuse(request, "it was not begun in this browser")
    wanted, account = kept.pop("next", ""), kept.pop("account", None)
    if not (code := request.GET.get("code", "")):
        return _refuse(request, "the provider sent no code")
    try:
        claims = redeem(code, Begun(**kept), back=_back(request))
    except ProviderError as error:
        return _refuse(request, str(error), status=502)
    if account is not None:
        if request.user.pk != account:
            return _refuse(request, "another account is signed in than the one to connect")
        if not connect_account(user=cast(User, request.user), claims=claims):
            return _refuse(request, "it is connected to another account")
        return redirect("security")
    user = find_account(claims)
    if user is None:
        return _refuse(request, "no account here is connected to theirs")
    login(request, user, backend=BACKEND)
    if url_has_allowed_host_and_scheme(wanted, {request.get_host()}, request.is_secure()):
        return redirect(wanted)
    return redirect("admin:index" if user.is_staff else "annotators:home")


def _send(request: HttpRequest, **kept: Any) -> HttpResponse:
    if not settings.OIDC_ISSUER:
        raise Http404
    begun = Begun.new()
    try:
        address = address_to_sign_in(begun, back=_back(request))
    except ProviderError as error:
        return _refuse(request, str(error), status=502)
    request.session[SESSION_KEY] = {**asdict(begun), **kept}
    return redirect(address)


def _back(request: HttpRequest) -> str:
    return request.build_absolute_uri(reverse("oidc-finish"))


def _refuse(request: HttpRequest, reason: str, *, status: int = 403) -> HttpResponse:
    logger.warning("a sign-in at the provider failed: %s", reason)
    notice = {
        "title": _("You are not signed in"),
        "text": _(
            "The sign-in did not succeed, or no account here is connected to yours. Sign in with "
            "your password, then connect it on the page of your second factor."
        ),
        "link": reverse("admin:login"),
        "link_text": _("Back to the sign-in"),
    }
    context = {"notice": notice}
    return render(request, "annotation/annotators/notice.html", context, status=status)
