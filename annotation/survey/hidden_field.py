"""A field that nobody sees: programs that fill in forms fill it, people do not.

It is out of sight, out of the tab order and out of what screen readers read, and browsers are told
to leave it alone. Only whether it was filled is kept, never with what. It never costs anything by
itself: a person looks.
"""

from __future__ import annotations

from typing import Any

from django.http import QueryDict

HIDDEN_FIELD = "website"
KEPT_AS = "hidden_field"


def read_hidden_field(sent: QueryDict) -> dict[str, Any]:
    """Return what the page event keeps of the field: nothing unless it was filled."""
    return {KEPT_AS: True} if any(text.strip() for text in sent.getlist(HIDDEN_FIELD)) else {}
