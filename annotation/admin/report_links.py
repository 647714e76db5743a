"""Links to the form that asks for a report, in an installation that has reports."""

from __future__ import annotations

from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.urls import NoReverseMatch, reverse


def find_report_form(user: User, kind: str, **inputs: int) -> str:
    """Return the address of the form of a kind of report, its inputs chosen; "" where there is
    none for this user."""
    if not user.has_perm("evaluation.add_report"):
        return ""
    try:
        return f"{reverse('admin:evaluation_report_add')}?{urlencode({'kind': kind, **inputs})}"
    except NoReverseMatch:
        return ""
