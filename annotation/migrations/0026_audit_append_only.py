"""The database itself refuses to change an entry of the audit log."""

from django.db import migrations

TABLE, MESSAGE = "annotation_auditentry", "entries of the audit log are never changed"
FORWARD = {
    "sqlite": [
        f"CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON {TABLE} "
        f"BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END"
    ],
    "postgresql": [
        "CREATE FUNCTION audit_entries_stay() RETURNS trigger AS $$ "
        f"BEGIN RAISE EXCEPTION '{MESSAGE}'; END $$ LANGUAGE plpgsql",
        f"CREATE TRIGGER audit_entries_stay BEFORE UPDATE ON {TABLE} "
        "FOR EACH ROW EXECUTE FUNCTION audit_entries_stay()",
    ],
}
BACK = {
    "sqlite": ["DROP TRIGGER audit_entries_stay"],
    "postgresql": [
        f"DROP TRIGGER audit_entries_stay ON {TABLE}",
        "DROP FUNCTION audit_entries_stay()",
    ],
}


def protect(apps, schema_editor):
    for statement in FORWARD.get(schema_editor.connection.vendor, []):
        schema_editor.execute(statement)


def release(apps, schema_editor):
    for statement in BACK.get(schema_editor.connection.vendor, []):
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0025_withdrawals_and_audit")]
    operations = [migrations.RunPython(protect, release)]
