"""Who is arriving: the panel's parameters, or an opaque id that the browser keeps.

Nothing here is stored or logged. Ids travel in the body of the form that starts a visit, so that no
later address holds them.
"""

from __future__ import annotations

import re
import secrets

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from annotation.models import Study
from annotation.panels.base import PanelArrival
from annotation.panels.errors import ArrivalRefused
from annotation.panels.registry import get_panel
from annotation.panels.study_settings import load_panel_settings
from annotation.steps.forms import PageRefused, read_single
from annotation.survey.arrival import Arrival

VISITOR_FIELD, VISITOR_COOKIE = "visitor", "visitor"
COOKIE_SECONDS = 180 * 24 * 60 * 60
# An arrival that its panel has signed for: the signature itself may lapse while somebody reads.
VERIFIED_FIELD = "arrival"
VERIFIED_SECONDS = 24 * 60 * 60
# What a browser is known by that came with a panel's id.
HOLDER_FIELD, HOLDER_COOKIE = "holder", "holder"
HOLDER_KEY = re.compile(r"[A-Za-z0-9_-]{32}")


def read_arrival(request: HttpRequest, study: Study) -> Arrival:
    """Return who asks to see or start ``study``. One query.

    Raises `PageRefused` where the study's panel sends ids and this request has none or a bad one.
    """
    panel, panel_settings = get_panel(study.panel), load_panel_settings(study)
    sent = request.POST if request.method == "POST" else request.GET
    try:
        found = _read_verified(request, study) or panel.read_arrival(sent, panel_settings)
    except ArrivalRefused as refusal:
        raise PageRefused(str(refusal)) from None
    if found is None:
        return Arrival(study.panel, _read_visitor(request, study), keeps_cookie=True)
    return Arrival(
        study.panel,
        found.external_id,
        found.session_id,
        signed_link=found.signed_link,
        holder_key=_read_holder_key(request),
    )


def describe_arrival(arrival: Arrival, study: Study) -> dict[str, str]:
    """Return the hidden fields that carry an arrival through the form that starts the visit."""
    if arrival.keeps_cookie:
        return {VISITOR_FIELD: _signer(study).sign(arrival.external_id)}
    key = {HOLDER_FIELD: arrival.holder_key}
    if arrival.signed_link:
        parts = [arrival.external_id, arrival.session_id, arrival.signed_link]
        return key | {VERIFIED_FIELD: _verified_signer(study).sign_object(parts)}
    found = PanelArrival(arrival.external_id, arrival.session_id)
    return key | get_panel(study.panel).arrival_fields(found, load_panel_settings(study))


def remember_visitor(response: HttpResponse, arrival: Arrival, study: Study, path: str) -> None:
    """Let the browser keep an opaque id, sent back to this study's link alone.

    Without the cookie the visit goes on all the same: its own address is enough.
    """
    if arrival.keeps_cookie:
        name, value = VISITOR_COOKIE, _signer(study).sign(arrival.external_id)
    else:
        name, value = HOLDER_COOKIE, arrival.holder_key
    response.set_cookie(
        name,
        value,
        max_age=COOKIE_SECONDS,
        path=path,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _read_verified(request: HttpRequest, study: Study) -> PanelArrival | None:
    """Return the arrival that the landing page has verified and put into its form."""
    signed = read_single(request.POST, VERIFIED_FIELD)
    if request.method != "POST" or not signed:
        return None
    try:
        parts = _verified_signer(study).unsign_object(signed, max_age=VERIFIED_SECONDS)
    except signing.BadSignature:
        raise ArrivalRefused(
            _("It has expired. Open the study again from its page at the panel.")
        ) from None
    return PanelArrival(*parts)


def _read_visitor(request: HttpRequest, study: Study) -> str:
    """Return the id from the cookie, else from the form, else a new one.

    The form brings its own id, so that a double click starts one visit even without cookies.
    """
    for signed in (request.COOKIES.get(VISITOR_COOKIE, ""), request.POST.get(VISITOR_FIELD, "")):
        try:
            return _signer(study).unsign(signed)
        except signing.BadSignature:
            continue
    return secrets.token_urlsafe(24)


def _read_holder_key(request: HttpRequest) -> str:
    """Return the browser's key from the cookie, else from the form, else a new one."""
    for key in (request.COOKIES.get(HOLDER_COOKIE, ""), read_single(request.POST, HOLDER_FIELD)):
        if HOLDER_KEY.fullmatch(key):
            return key
    return secrets.token_urlsafe(24)


def _signer(study: Study) -> signing.Signer:
    # The study is part of the salt: an id of one study is worth nothing in another.
    return signing.Signer(salt=f"annotation.survey.visitor.{study.public_id}")


def _verified_signer(study: Study) -> signing.TimestampSigner:
    return signing.TimestampSigner(salt=f"annotation.survey.arrival.{study.public_id}")
