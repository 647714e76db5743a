"""After a test that commits, the database is again as `migrate` has left it.

Django would empty all of hundred tables, and make content types, rights and the library anew. Here
the rows that were there come back: of SQLite the whole file at once, of PostgreSQL table by table.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from django.db import connection, transaction

AUDIT_LOG = "annotation_auditentry"


def restore_instead_of_flush(restore: Callable[[], None]) -> None:
    """Let the command ``flush``, which ends a test that commits, bring the kept rows back.

    It is told that there is nothing to empty; like this it sends no signal after it, either.
    """

    def flush(_style: Any, _tables: Sequence[str], **options: bool) -> list[str]:
        assert not options.get("reset_sequences"), "no test counts on the numbers of its rows"
        restore()
        return []

    connection.ops.sql_flush = flush


def restore_file(migrated: Path) -> None:
    """Fill SQLite's database in memory with the file."""
    connection.ensure_connection()
    with closing(sqlite3.connect(migrated)) as source:
        source.backup(connection.connection)


def keep_tables() -> dict[str, bytes]:
    """Return PostgreSQL's rows as it writes them itself, by table; nothing for an empty one."""
    kept = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            quoted = connection.ops.quote_name(table)
            with cursor.copy(f"COPY {quoted} TO STDOUT") as rows:
                kept[quoted] = b"".join(rows)
    return kept


def restore_tables(kept: dict[str, bytes]) -> None:
    """Replace what stands in PostgreSQL's tables by what was kept.

    It writes new files for every table that is truncated, which takes seconds; a test leaves a few
    rows. Foreign keys are checked at the end of the transaction. The audit log lets nobody delete
    its entries, in a test either.
    """
    audit_log = connection.ops.quote_name(AUDIT_LOG)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {audit_log} DISABLE TRIGGER USER")
        cursor.execute(";".join(f"DELETE FROM {table}" for table in kept))  # noqa: S608
        for table, rows in kept.items():
            if rows:
                with cursor.copy(f"COPY {table} FROM STDIN") as copy:
                    copy.write(rows)
        # Keys are looked at now: a table with keys to be looked at is not altered.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute(f"ALTER TABLE {audit_log} ENABLE TRIGGER USER")
