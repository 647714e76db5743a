"""What is forgiven of a typed word."""

from __future__ import annotations

import re
import unicodedata

# Typing errors that are forgiven, by the length of the word: short words lie close together.
FORGIVEN = ((4, 0), (7, 1), (12, 2))
FORGIVEN_BEYOND = 3


def forgiven_errors(word: str) -> int:
    """Return how many letters may be wrong, missing or too many."""
    return next((errors for below, errors in FORGIVEN if len(word) < below), FORGIVEN_BEYOND)


def plain_words(text: str) -> list[str]:
    """Return the words of a text in small letters, without accents."""
    decomposed = unicodedata.normalize("NFKD", text)
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter))
    return re.findall(r"\w+", plain.casefold())
