"""The database itself refuses to change or delete an entry of the audit log."""

from __future__ import annotations

from typing import Any

from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TABLE = "annotation_auditentry"
UNCHANGED = "entries of the audit log are never changed"
KEPT = "entries of the audit log are never deleted"
TRIGGERS = {
    "sqlite": [
        f"CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON {TABLE} "
        f"BEGIN SELECT RAISE(ABORT, '{UNCHANGED}'); END",
        f"CREATE TRIGGER audit_entries_remain BEFORE DELETE ON {TABLE} "
        f"BEGIN SELECT RAISE(ABORT, '{KEPT}'); END",
    ],
    "postgresql": [
        "CREATE FUNCTION audit_entries_stay() RETURNS trigger AS $$ "
        f"BEGIN RAISE EXCEPTION '{UNCHANGED}'; END $$ LANGUAGE plpgsql",
        f"CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON {TABLE} "
        "FOR EACH ROW EXECUTE FUNCTION audit_entries_stay()",
        "CREATE FUNCTION audit_entries_remain() RETURNS trigger AS $$ "
        f"BEGIN RAISE EXCEPTION '{KEPT}'; END $$ LANGUAGE plpgsql",
        f"CREATE TRIGGER audit_entries_remain BEFORE DELETE ON {TABLE} "
        "FOR EACH ROW EXECUTE FUNCTION audit_entries_remain()",
        f"CREATE TRIGGER audit_entries_never_truncated BEFORE TRUNCATE ON {TABLE} "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_remain()",
    ],
}
REMOVALS = {
    "sqlite": ["DROP TRIGGER audit_entries_stay", "DROP TRIGGER audit_entries_remain"],
    "postgresql": [
        f"DROP TRIGGER audit_entries_stay ON {TABLE}",
        f"DROP TRIGGER audit_entries_remain ON {TABLE}",
        f"DROP TRIGGER audit_entries_never_truncated ON {TABLE}",
        "DROP FUNCTION audit_entries_stay()",
        "DROP FUNCTION audit_entries_remain()",
    ],
}


def add_triggers(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for statement in TRIGGERS[schema_editor.connection.vendor]:
        schema_editor.execute(statement)


def drop_triggers(apps: Any, schema_editor: BaseDatabaseSchemaEditor) -> None:
    for statement in REMOVALS[schema_editor.connection.vendor]:
        schema_editor.execute(statement)
