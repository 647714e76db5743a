"""Unguessable public names. They appear in links, so they avoid letters that are misread."""

from __future__ import annotations

import secrets

# Crockford's base 32 in lower case: no i, l, o, u.
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def _draw(length: int) -> str:
    return "".join(secrets.choice(ALPHABET) for _ in range(length))


def spell(number: int, length: int = 12) -> str:
    """Return the lowest digits of a number in base 32, the last one first."""
    letters = []
    for _ in range(length):
        number, digit = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[digit])
    return "".join(letters)


def new_public_id() -> str:
    """Return a 12-character name (60 bits) for things that staff and participants may see."""
    return _draw(12)


def new_token() -> str:
    """Return a 32-character token (160 bits): whoever holds it may act for the submission."""
    return _draw(32)


def new_completion_code() -> str:
    """Return an 8-character code in capitals, as panels show them."""
    return _draw(8).upper()


def new_seed() -> int:
    """Return a seed that fits a signed 32-bit column."""
    return secrets.randbelow(2**31)
