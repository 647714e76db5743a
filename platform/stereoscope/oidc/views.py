"""Signing in at a provider of accounts, and connecting an account to it."""

from __future__ import annotations

import base64
import hashlib
import logging
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth import authenticate, login
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from annotation.audit.record import record
from annotation.common.lazy import httpx, jwt
from annotation.models import AuditAction
from stereoscope.models import ExternalLogin

# --- Which account here belongs to somebody who signed in at the provider


def find_account(claims: Mapping[str, Any]) -> User | None:
    """Return the active account that is connected to verified claims, None without one.

    The issuer and its own id of the person alone count. Names and addresses that a provider sends
    are chosen or given to others.
    """
    found = ExternalLogin.objects.select_related("user").filter(**_identify(claims)).first()
    return found.user if found is not None and found.user.is_active else None


@transaction.atomic
def connect_account(*, user: User, claims: Mapping[str, Any]) -> bool:
    """Let the person of verified claims sign in to ``user`` from now on, instead of another.

    Returns False, and changes nothing, if they are connected to another account.
    """
    identity = _identify(claims)
    if ExternalLogin.objects.filter(**identity).exclude(user=user).exists():
        return False
    disconnect_account(user=user)
    ExternalLogin.objects.create(user=user, **identity)
    record(AuditAction.ACCESS, f"account {user}", detail="connected to its account at the provider")
    return True


@transaction.atomic
def disconnect_account(*, user: User) -> None:
    """Let nobody sign in to ``user`` at the provider."""
    if ExternalLogin.objects.filter(user=user, issuer=settings.OIDC_ISSUER).delete()[0]:
        record(AuditAction.ACCESS, f"account {user}", detail="disconnected from the provider")


def _identify(claims: Mapping[str, Any]) -> dict[str, str]:
    return {"issuer": settings.OIDC_ISSUER, "subject": str(claims["sub"])}


# --- The provider of accounts: OpenID Connect, code flow with PKCE (RFC 7636)

KEPT_SECONDS = 3600
TIMEOUT_SECONDS = 10.0
#: Signatures with a key pair alone: a shared secret would let the client make tokens itself.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]
REQUIRED = ["exp", "iat", "sub", "nonce"]


class ProviderError(Exception):
    """The provider did not answer as it should; the message is for the log and names nobody."""


@dataclass(frozen=True)
class PendingSignIn:
    """What a sign-in that has begun has to come back with."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> PendingSignIn:
        return cls(*(secrets.token_urlsafe(32) for _ in range(3)))

    @property
    def challenge(self) -> str:
        digest = hashlib.sha256(self.verifier.encode()).digest()
        return base64.urlsafe_b64encode(digest).decode().rstrip("=")


def read_provider() -> dict[str, Any]:
    """Return what the provider says of itself, asked for once an hour. Raises `ProviderError`."""
    key = f"oidc:{settings.OIDC_ISSUER}"
    if (known := cache.get(key)) is not None:
        return dict(known)
    found = _read_json(
        "GET", f"{settings.OIDC_ISSUER.rstrip('/')}/.well-known/openid-configuration"
    )
    if found.get("issuer") != settings.OIDC_ISSUER:
        raise ProviderError("The provider names another issuer than OIDC_ISSUER.")
    cache.set(key, found, KEPT_SECONDS)
    return found


def address_to_sign_in(begun: PendingSignIn, *, back: str) -> str:
    """Return where the browser is sent; it comes back to ``back``."""
    query = {
        "response_type": "code",
        "client_id": settings.OIDC_CLIENT_ID,
        "redirect_uri": back,
        "scope": "openid profile email",
        "state": begun.state,
        "nonce": begun.nonce,
        "code_challenge": begun.challenge,
        "code_challenge_method": "S256",
    }
    return f"{read_provider()['authorization_endpoint']}?{urlencode(query)}"


def redeem(code: str, begun: PendingSignIn, *, back: str) -> dict[str, Any]:
    """Return the claims about who signed in, verified. Raises `ProviderError`."""
    provider = read_provider()
    answer = _read_json(
        "POST",
        provider["token_endpoint"],
        data={
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "client_id": settings.OIDC_CLIENT_ID,
            "client_secret": settings.OIDC_CLIENT_SECRET,
            "code_verifier": begun.verifier,
        },
    )
    token = str(answer.get("id_token", ""))
    try:
        key = jwt.PyJWKClient(provider["jwks_uri"], timeout=TIMEOUT_SECONDS)
        claims: dict[str, Any] = jwt.decode(
            token,
            key.get_signing_key_from_jwt(token).key,
            algorithms=ALGORITHMS,
            audience=settings.OIDC_CLIENT_ID,
            issuer=settings.OIDC_ISSUER,
            options={"require": REQUIRED},
        )
    except jwt.PyJWTError as error:
        raise ProviderError(f"The token was refused: {type(error).__name__}.") from error
    if not secrets.compare_digest(str(claims["nonce"]).encode(), begun.nonce.encode()):
        raise ProviderError("The token belongs to another sign-in.")
    return claims


def _read_json(method: str, address: str, **options: Any) -> dict[str, Any]:
    try:
        answer = httpx.request(method, address, timeout=TIMEOUT_SECONDS, **options)
        answer.raise_for_status()
        found = answer.json()
    except (httpx.HTTPError, ValueError) as error:
        raise ProviderError(f"The provider did not answer: {type(error).__name__}.") from error
    if not isinstance(found, dict):
        raise ProviderError("The provider answered with no JSON object.")
    return found


# --- Pages

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
        claims = redeem(code, PendingSignIn(**kept), back=_back(request))
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
    begun = PendingSignIn.new()
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
