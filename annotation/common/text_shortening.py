"""Text cut short: in messages, and where lists show how a text begins."""

from __future__ import annotations

LONGEST_IN_MESSAGE = 60
LONGEST_BEGINNING = 110


def shorten(text: str, most: int = LONGEST_IN_MESSAGE) -> str:
    """Return ``text`` as a message quotes it: one printable line of at most ``most`` characters."""
    shown = "".join(char if char.isprintable() else "�" for char in text)
    return shown if len(shown) <= most else f"{shown[: most - 1]}…"


def show_beginning(text: str, most: int = LONGEST_BEGINNING) -> str:
    """Return the beginning of a text on one line: whole words of at most ``most`` characters."""
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[:most].rsplit(' ', 1)[0]} …"
