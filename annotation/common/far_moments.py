"""Moments that lie further away than whoever noted them could still be at work."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone


def is_far(field: str, age: timedelta) -> Q:
    """Return the condition that ``field`` lies more than ``age`` back, or as far ahead.

    What lies ahead was noted before the clock was set back: nobody waits until it is past.
    """
    now = timezone.now()
    return Q(**{f"{field}__lt": now - age}) | Q(**{f"{field}__gt": now + age})
