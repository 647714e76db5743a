"""Tokens of the API for tests: good for everything that their account may do."""

from __future__ import annotations

from django.contrib.auth.models import User

from stereoscope.api_authentication import create_token
from stereoscope.models import Scope


def header_for(user: User) -> str:
    """Return what the header ``Authorization`` of a new token is."""
    _token, key = create_token(user=user, name="tests", scopes=Scope.values)
    return f"Token {key}"
