"""Links that a panel has signed: an RS256 JSON Web Token, checked against the panel’s public keys.

Sources: RFC 7519 (JWT), RFC 7517 (JWK); Prolific’s page on its key set: keys are kept for a day at
most, and `kid`, `exp`, `aud` and the `prolific` claim are checked.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _

from annotation.common.lazy import httpx, jwt
from annotation.panels.caller import trust
from annotation.panels.errors import ArrivalRefused

logger = logging.getLogger(__name__)

KEPT_SECONDS = 24 * 60 * 60
# Made-up key ids must not make this site ask the panel again and again.
PAUSE_SECONDS = 60
CLOCK_SECONDS = 30
TIMEOUT_SECONDS = 5
CLAIM = "prolific"
LONGEST_TOKEN = 8_000


class KeySet:
    """The public keys at an address, by key id. Fetched once a day, and for an unknown id."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched: float | None = None
        self._asked: float | None = None
        self._lock = threading.Lock()

    def find(self, kid: str) -> jwt.PyJWK | None:
        """Return a key; while the panel is away, keys that were fetched before still count."""
        with self._lock:
            now = time.monotonic()
            is_old = self._fetched is None or now - self._fetched > KEPT_SECONDS
            is_quiet = self._asked is None or now - self._asked > PAUSE_SECONDS
            if (is_old or kid not in self._keys) and is_quiet:
                self._asked = now
                self._fetch(now)
            return self._keys.get(kid)

    def _fetch(self, now: float) -> None:
        try:
            answer = httpx.get(self.url, timeout=TIMEOUT_SECONDS, verify=trust())
            answer.raise_for_status()
            found = jwt.PyJWKSet.from_dict(answer.json())
        except (httpx.HTTPError, jwt.PyJWTError, ValueError, AttributeError) as error:
            logger.warning("the keys of signed links were not fetched: %s", type(error).__name__)
            return
        self._keys = {key.key_id: key for key in found.keys if key.key_id}
        self._fetched = now


_key_sets: dict[str, KeySet] = {}


def find_key_set(url: str) -> KeySet:
    """Return this process’s keys of an address."""
    return _key_sets.setdefault(url, KeySet(url))


def verify_link(token: str, *, audience: str) -> Mapping[str, Any]:
    """Return the panel’s claim of a valid token. Raises `ArrivalRefused`."""
    if not token or len(token) > LONGEST_TOKEN:
        raise ArrivalRefused(
            _("It is not signed by Prolific. Open the study from its page on Prolific.")
        )
    try:
        kid = jwt.get_unverified_header(token).get("kid")
        key = find_key_set(settings.PROLIFIC_JWKS_URL).find(kid) if isinstance(kid, str) else None
        if key is None:
            raise jwt.InvalidKeyError
        content = jwt.decode(
            token,
            key,
            algorithms=["RS256"],
            audience=audience,
            leeway=CLOCK_SECONDS,
            options={"require": ["exp", "aud"]},
        )
    except jwt.ExpiredSignatureError:
        raise ArrivalRefused(
            _("It has expired. Open the study again from its page on Prolific.")
        ) from None
    except jwt.PyJWTError:
        raise ArrivalRefused(
            _("Its signature is not valid. Open the study from its page on Prolific.")
        ) from None
    claim = content.get(CLAIM)
    if not isinstance(claim, dict):
        raise ArrivalRefused(
            _("Its signature names nobody. Open the study from its page on Prolific.")
        )
    return claim


def pick_id(claim: Mapping[str, Any], *names: str, in_link: str) -> str:
    """Return the id that the panel signed, under any of ``names``; the link may not differ."""
    signed = next((claim[name] for name in names if isinstance(claim.get(name), str)), "")
    if in_link and in_link != signed:
        raise ArrivalRefused(
            _("Its ids are not the signed ones. Open the study from its page on Prolific.")
        )
    return str(signed)
