"""Who is arriving: the panel's query parameters, or an opaque id that the browser keeps.

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

from annotation.models import Panel, Study
from annotation.survey.arriving import Arrival
from annotation.survey.errors import PageRefused
from annotation.survey.posted import read_single

# Prolific's ids are 24 hexadecimal digits. The pattern is wider, but a placeholder that the panel
# did not fill in, such as {{%PROLIFIC_PID%}}, does not pass.
PANEL_ID = re.compile(r"[A-Za-z0-9_-]{1,120}")
PROLIFIC_ID, PROLIFIC_SESSION = "PROLIFIC_PID", "SESSION_ID"
VISITOR_FIELD, VISITOR_COOKIE = "visitor", "visitor"
COOKIE_SECONDS = 180 * 24 * 60 * 60


def read_arrival(request: HttpRequest, study: Study) -> Arrival:
    """Return who asks to see or start ``study``.

    Raises `PageRefused` where the study's panel sends ids and this request has none or a bad one.
    """
    if study.panel == Panel.PROLIFIC:
        sent = request.POST if request.method == "POST" else request.GET
        person, session = read_single(sent, PROLIFIC_ID), read_single(sent, PROLIFIC_SESSION)
        if not PANEL_ID.fullmatch(person):
            raise PageRefused(
                _("It carries no Prolific id. Open the study from its page on Prolific.")
            )
        if session and not PANEL_ID.fullmatch(session):
            raise PageRefused(
                _("Its session id is not one of Prolific’s. Open the study from its page there.")
            )
        return Arrival(Panel.PROLIFIC, external_id=person, session_id=session)
    return Arrival(Panel.LINK, external_id=_read_visitor(request, study))


def describe_arrival(arrival: Arrival, study: Study) -> dict[str, str]:
    """Return the hidden fields that carry an arrival through the form that starts the visit."""
    if arrival.panel == Panel.PROLIFIC:
        return {PROLIFIC_ID: arrival.external_id, PROLIFIC_SESSION: arrival.session_id}
    return {VISITOR_FIELD: _signer(study).sign(arrival.external_id)}


def remember_visitor(response: HttpResponse, arrival: Arrival, study: Study, path: str) -> None:
    """Let the browser keep a visitor's opaque id, sent back to this study's link alone.

    Without the cookie the visit goes on all the same: its own address is enough.
    """
    if arrival.panel != Panel.LINK:
        return
    response.set_cookie(
        VISITOR_COOKIE,
        _signer(study).sign(arrival.external_id),
        max_age=COOKIE_SECONDS,
        path=path,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


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


def _signer(study: Study) -> signing.Signer:
    # The study is part of the salt: an id of one study is worth nothing in another.
    return signing.Signer(salt=f"annotation.survey.visitor.{study.public_id}")
