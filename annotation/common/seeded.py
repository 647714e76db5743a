"""Random choices that a stored seed fixes for good, whatever the version of Python or the order of
the database's rows: everything is decided by SHA-256 of seed, purpose and name."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")


def shuffle(items: Iterable[T], *, name: Callable[[T], str], seed: int, purpose: str) -> list[T]:
    """Return ``items`` in an order that depends on their names, ``seed`` and ``purpose`` alone.

    Names must differ from one another. Another ``purpose`` gives an independent order.
    """
    return sorted(items, key=lambda item: _digest(seed, purpose, name(item)))


def toss(*, seed: int, purpose: str) -> bool:
    """Return a fair coin's side."""
    return bool(_digest(seed, purpose, "")[0] & 1)


# A participant's pages ask for the same order and sides again and again.
@lru_cache(maxsize=2**14)
def _digest(seed: int, purpose: str, name: str) -> bytes:
    return hashlib.sha256(f"{seed}\x1f{purpose}\x1f{name}".encode()).digest()
