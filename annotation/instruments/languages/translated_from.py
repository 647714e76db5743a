"""Which source text a translation was made for, so that one that fell behind is noticed.

Kept with the instrument, by language and key, as two short digests: of the source, and of the
translation. A translation is stale where its source has changed since and it has not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

#: By key: digests of source and translation.
Made = dict[str, tuple[str, str]]


def read_made(stored: Mapping[str, Any], language: str) -> Made:
    """Return what an instrument's ``translated_from`` says of a language."""
    return {key: (source, text) for key, (source, text) in stored.get(language, {}).items()}


def note(source: str, translation: str) -> tuple[str, str]:
    """Return what is kept about a translation that is right for ``source``."""
    return _digest(source), _digest(translation)


def is_stale(made: tuple[str, str] | None, source: str, translation: str) -> bool:
    """Whether only the source has changed. False where nothing was kept, as by hand."""
    if made is None or not translation:
        return False
    before, now = made, note(source, translation)
    return before[0] != now[0] and before[1] == now[1]


def _digest(text: str) -> str:
    """Return a digest that white space does not change."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:12]
