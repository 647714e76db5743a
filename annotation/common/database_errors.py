"""What a database's error says about itself: away for a while, or a statement that cannot be."""

from __future__ import annotations

from django.db import Error

# SQLSTATE: no connection, shutting down or starting, no space on the disk, no connection left.
AWAY_STATES = ("08", "57P", "53100", "53300")
AWAY_IN_SQLITE = ("SQLITE_BUSY", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_LOCKED")


def is_away(error: Error) -> bool:
    """Return whether the same statement may succeed once the database or its disk is well."""
    cause = error.__cause__
    if name := getattr(cause, "sqlite_errorname", ""):
        return name.startswith(AWAY_IN_SQLITE)
    # Without a state, the connection broke before an answer came.
    return (getattr(cause, "sqlstate", None) or "08").startswith(AWAY_STATES)
