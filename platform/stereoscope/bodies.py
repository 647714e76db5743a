"""What a request may carry: a form for everyone, a file from researchers and their programs."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

from django.conf import settings
from django.utils import timezone

#: The largest body of somebody without an account: far more than any page of a survey sends.
FORM_BYTES = 1_000_000
#: The largest body of all: a corpus or a table of predictions.
FILE_BYTES = 1_000_000_000
#: Where files and documents are sent, by people with an account and by programs with a token.
FILE_PREFIXES = ("/admin/", "/api/")
#: Where files are taken in the encoding of browsers; else the API takes documents.
UPLOAD_PREFIXES = ("/admin/", "/api/v1/imports/")


def holds_files(content_type: str) -> bool:
    """Whether a body is encoded as browsers encode files."""
    return content_type.lower().startswith("multipart/")


def may_send_files(path: str, *, cookies: Mapping[str, str], authorization: str) -> bool:
    """Whether a request comes from a researcher, by session or token, to where files are taken.

    Nothing of its body is read for that. Two queries at most.
    """
    if not path.startswith(FILE_PREFIXES):
        return False
    if authorization and path.startswith("/api/"):
        from stereoscope.api_authentication import find_token

        token = find_token(authorization.partition(" ")[2].strip())
        return token is not None and token.expires_at > timezone.now() and _is_staff(token.user)
    from django.contrib.auth import get_user
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore(cookies.get(settings.SESSION_COOKIE_NAME))
    request: Any = SimpleNamespace(session=session)
    return _is_staff(get_user(request))


def _is_staff(user: Any) -> bool:
    return bool(user.is_active and user.is_staff)
