"""The provider of accounts: OpenID Connect, code flow with PKCE (RFC 7636)."""

from __future__ import annotations

import base64
import hashlib
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.cache import cache

from annotation.common.lazy import httpx, jwt

KEPT_SECONDS = 3600
TIMEOUT_SECONDS = 10.0
#: Signatures with a key pair alone: a shared secret would let the client make tokens itself.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]
REQUIRED = ["exp", "iat", "sub", "nonce"]


class ProviderError(Exception):
    """The provider did not answer as it should; the message is for the log and names nobody."""


@dataclass(frozen=True)
class Begun:
    """What a sign-in that has begun has to come back with."""

    state: str
    nonce: str
    verifier: str

    @classmethod
    def new(cls) -> Begun:
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


def address_to_sign_in(begun: Begun, *, back: str) -> str:
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


def redeem(code: str, begun: Begun, *, back: str) -> dict[str, Any]:
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
