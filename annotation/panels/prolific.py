"""Prolific: ids in the link or in a signed token, codes by outcome, an API, webhooks."""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.conf import settings as site
from django.http import QueryDict
from django.utils.translation import gettext as _

from annotation.common.lazy import httpx, jwt
from annotation.models import Outcome, Panel, PanelSettings, RejectionGround, ScreenOutPay, Study
from annotation.models import Submission as SubmissionRow
from annotation.panels.base import (
    CompletionCode,
    CompletionPath,
    PanelArrival,
    PanelKind,
    PanelRules,
    check_ids,
    read_ids,
    read_parameter,
)
from annotation.panels.caller import trust
from annotation.panels.errors import ArrivalRefused
from annotation.panels.prolific_client import ProlificClient, connect_prolific

# --- Links that a panel has signed: an RS256 JSON Web Token, checked against the panel’s public
# keys
#
# Sources: RFC 7519 (JWT), RFC 7517 (JWK); Prolific’s page on its key set: keys are kept for a day
# at most, and `kid`, `exp`, `aud` and the `prolific` claim are checked.

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


# --- The panel

COMPLETE_URL = "https://app.prolific.com/submissions/complete"
STUDY_PARAMETER = "STUDY_ID"

# Checks that rest on memory are no ground at all, so that no ground maps to them.
CATEGORIES: dict[str, str] = {
    RejectionGround.TOO_FAST: "TOO_QUICKLY",
    RejectionGround.LOW_EFFORT: "LOW_EFFORT",
    RejectionGround.FAILED_CHECK: "FAILED_CHECK",
}
# Outcome → the type of its code, and what Prolific does when somebody comes back with it.
CODES = {
    Outcome.COMPLETED: ("COMPLETED", "MANUALLY_REVIEW"),
    Outcome.FAILED_CHECK: ("FAILED_ATTENTION_CHECK", "MANUALLY_REVIEW"),
    Outcome.NO_CONSENT: ("NO_CONSENT", "REQUEST_RETURN"),
    Outcome.TIMED_OUT: ("OTHER", "MANUALLY_REVIEW"),
    Outcome.QUOTA_FULL: ("OTHER", "REQUEST_RETURN"),
}
SCREEN_OUT_CODES = {
    ScreenOutPay.NOTHING: ("OTHER", "REQUEST_RETURN"),
    ScreenOutPay.FIXED: ("FIXED_SCREENOUT", "FIXED_SCREENOUT_PAYMENT"),
    ScreenOutPay.SHARE: ("OTHER", "DYNAMIC_PAYMENT"),
}


class Prolific(PanelKind):
    name = Panel.PROLIFIC
    known_as = "Prolific"
    submissions_url = "https://app.prolific.com/submissions"
    person_parameter = "PROLIFIC_PID"
    session_parameter = "SESSION_ID"
    link_token_parameter = "prolific_token"  # noqa: S105 - the name of a parameter
    rules = PanelRules(categories=CATEGORIES, least_message=100, largest_batch=100)
    has_api = True

    def connect(
        self, study: Study, settings: PanelSettings, *, patient: bool = True
    ) -> ProlificClient:
        return connect_prolific(settings, patient=patient)

    def read_arrival(self, sent: QueryDict, settings: PanelSettings) -> PanelArrival:
        """Return the ids of the link; with signed links those that Prolific signed for."""
        person, session = self.person_name(settings), self.session_name(settings)
        if not settings.signed_links:
            return read_ids(sent, person=person, session=session, panel=self.title)
        token = read_parameter(sent, self.token_name(settings))
        claim = verify_link(
            token,
            audience=settings.link_audience or urlsplit(site.SITE_URL).hostname or "",
        )
        ids = [
            pick_id(claim, *names, in_link=read_parameter(sent, name))
            for name, names in (
                (person, (person, "PROLIFIC_PID", "participant_id")),
                (session, (session, "SESSION_ID", "session_id", "submission_id")),
            )
        ]
        checked = check_ids(*ids, panel=self.title)
        return replace(checked, signed_link=hashlib.sha256(token.encode()).hexdigest())

    def token_name(self, settings: PanelSettings) -> str:
        return settings.link_token_parameter or self.link_token_parameter

    def link_query(self, settings: PanelSettings) -> str:
        names = {
            self.person_name(settings): "{{%PROLIFIC_PID%}}",
            STUDY_PARAMETER: "{{%STUDY_ID%}}",
            self.session_name(settings): "{{%SESSION_ID%}}",
        }
        return f"?{urlencode(names, safe='{}%')}"

    def complete(
        self, study: Study, settings: PanelSettings, outcome: str, submission: SubmissionRow | None
    ) -> CompletionPath | None:
        code = study.completion_codes.get(outcome, "")
        if not code:
            return None
        return CompletionPath(code, f"{COMPLETE_URL}?{urlencode({'cc': code})}", self.title)

    def describe_codes(self, study: Study, settings: PanelSettings) -> list[CompletionCode]:
        kinds = CODES | {
            Outcome.SCREENED_OUT: SCREEN_OUT_CODES[ScreenOutPay(settings.screen_out_pay)]
        }
        return [
            CompletionCode(outcome, study.completion_codes.get(outcome.value, ""), *kinds[outcome])
            for outcome in Outcome
            if outcome in kinds
        ]
