"""The database itself refuses to delete an entry of the audit log, too."""

from django.db import migrations

TABLE, MESSAGE = "annotation_auditentry", "entries of the audit log are never deleted"
FORWARD = {
    "sqlite": [
        f"CREATE TRIGGER audit_entries_remain BEFORE DELETE ON {TABLE} "
        f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
    ],
    "postgresql": [
        "CREATE FUNCTION audit_entries_remain() RETURNS trigger AS $$ "
        f"BEGIN RAISE EXCEPTION '{MESSAGE}'; END $$ LANGUAGE plpgsql",
        f"CREATE TRIGGER audit_entries_remain BEFORE DELETE ON {TABLE} "
        "FOR EACH ROW EXECUTE FUNCTION audit_entries_remain()",
        f"CREATE TRIGGER audit_entries_never_truncated BEFORE TRUNCATE ON {TABLE} "
        "FOR EACH STATEMENT EXECUTE FUNCTION audit_entries_remain()",
    ],
}
BACK = {
    "sqlite": ["DROP TRIGGER audit_entries_remain"],
    "postgresql": [
        f"DROP TRIGGER audit_entries_remain ON {TABLE}",
        f"DROP TRIGGER audit_entries_never_truncated ON {TABLE}",
        "DROP FUNCTION audit_entries_remain()",
    ],
}


def protect(apps, schema_editor):
    for statement in FORWARD.get(schema_editor.connection.vendor, []):
        schema_editor.execute(statement)


def release(apps, schema_editor):
    for statement in BACK.get(schema_editor.connection.vendor, []):
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0027_encrypted_ids")]
    operations = [migrations.RunPython(protect, release)]
