"""Memory that Python has freed, given back to the system."""

from __future__ import annotations

import ctypes


def give_back_memory() -> None:
    """Return freed memory to the system where the C library can: glibc keeps it for later.

    After the tables of a large study are freed, tens of megabytes lie idle like this.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
