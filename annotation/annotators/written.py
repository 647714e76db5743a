"""Text that annotators type, as it is stored and as lists begin to show it."""

from __future__ import annotations

import unicodedata


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


def shorten(text: str, most: int = 110) -> str:
    """Return the beginning of a text on one line, whole words of at most ``most`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rsplit(' ', 1)[0]} …"
