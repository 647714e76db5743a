"""Memory of long work: what was freed is given back to the system, and seldom searched for."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


def give_back_memory() -> None:
    """Return freed memory to the system: that of SQLite's cache, and what glibc keeps for later.

    After the tables of a large study are read and freed, a hundred megabytes lie idle like this.
    """
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA shrink_memory")
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


@contextmanager
def seldom_collected() -> Iterator[None]:
    """Search seldom for what only circles of references keep alive, while this lasts.

    Work that makes a million objects which all stay, such as pages that are laid out, otherwise
    spends a fifth of its time on searches that find nothing. Whoever leaves large circles behind
    calls `gc.collect`.
    """
    usual = gc.get_threshold()
    gc.set_threshold(50_000, 20, 100)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
