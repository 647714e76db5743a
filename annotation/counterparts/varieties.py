"""Varieties as pages name them at first mention."""

from __future__ import annotations

NAMES = {"AAL": "African American Language (AAL)", "WME": "White Mainstream English (WME)"}


def describe_variety(variety: str) -> str:
    """Return the name in full with its abbreviation; a variety without one as it is."""
    return NAMES.get(variety, variety)
