"""What is erased leaves the files of the embedded database, too."""

from __future__ import annotations

from django.db import OperationalError, connection

#: How long others may keep the log in use before it is left to the next time.
PATIENCE_MS = 2_000


def overwrite_erased() -> bool:
    """Empty the log of SQLite, which holds pages as they were; return whether that was possible.

    The database itself overwrites what is deleted (`secure_delete`). Outside of a transaction.
    Another database has its own ways: there is nothing to do.
    """
    if connection.vendor != "sqlite":
        return True
    usual_ms = int(1000 * connection.settings_dict["OPTIONS"].get("timeout", 5))
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {PATIENCE_MS}")
        try:
            is_busy, *_ = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except OperationalError:  # somebody reads on this very connection
            is_busy = True
        finally:
            cursor.execute(f"PRAGMA busy_timeout = {usual_ms}")
    return not is_busy
