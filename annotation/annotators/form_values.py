"""What the pages of annotators post: texts, and the time that a page was in front."""

from __future__ import annotations

import math
import unicodedata

from django.http import QueryDict

MOST_SECONDS = 3600.0  # of one stretch between two messages of the browser


def clean_text(text: str) -> str:
    """Return a text as it is stored: line ends as ``\\n``, no blanks around it, and without control
    characters, which some databases refuse."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    kept = (
        letter
        for letter in lines
        if letter in "\n\t" or unicodedata.category(letter) not in {"Cc", "Cs"}
    )
    return "".join(kept).strip()


def read_seconds(sent: QueryDict) -> float:
    """Return the seconds that a page posted, 0 where it posted none that can be read."""
    try:
        return float(sent.get("seconds", "") or 0)
    except ValueError:
        return 0.0


def bound_seconds(seconds: float) -> float:
    """Return a stretch of time as it is counted: 0 to an hour, 0 for NaN and infinity."""
    return min(max(seconds, 0.0), MOST_SECONDS) if math.isfinite(seconds) else 0.0
