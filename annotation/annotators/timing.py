"""Time that annotators spend with a page in front, as their browsers count it."""

from __future__ import annotations

import math

from django.http import QueryDict

MOST_SECONDS = 3600.0  # of one stretch between two messages of the browser


def read_seconds(sent: QueryDict) -> float:
    """Return the seconds that a page posted, 0 where it posted none that can be read."""
    try:
        return float(sent.get("seconds", "") or 0)
    except ValueError:
        return 0.0


def bound_seconds(seconds: float) -> float:
    """Return a stretch of time as it is counted: 0 to an hour, 0 where it is no number."""
    return min(max(seconds, 0.0), MOST_SECONDS) if math.isfinite(seconds) else 0.0
