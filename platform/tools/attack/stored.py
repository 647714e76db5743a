"""What the database holds, as one hash a table: a refused request must not change any."""

from __future__ import annotations

import hashlib

from django.db import connection

#: Tables that a refused request may write to: sessions, the logs, and when a token was last used.
MAY_CHANGE = ("django_session", "axes_", "annotation_auditentry", "stereoscope_apitoken")


def hash_tables() -> dict[str, str]:
    """Return a hash of the rows of each table. One query a table."""
    found = {}
    with connection.cursor() as cursor:
        for table in sorted(connection.introspection.table_names(cursor)):
            if table.startswith(MAY_CHANGE):
                continue
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608
            rows = sorted(repr(row) for row in cursor.fetchall())
            found[table] = hashlib.sha256("\n".join(rows).encode()).hexdigest()
    return found


def changed_tables(before: dict[str, str]) -> list[str]:
    after = hash_tables()
    return [table for table in after if after[table] != before.get(table)]
