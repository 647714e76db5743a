"""Ids of people are encrypted at rest."""

import annotation.common.encryption
from django.db import migrations


def encrypt_ids(apps, schema_editor):
    """Store ids anew: read as they are, written under the first key."""
    for name, fields in (
        ("ParticipantIdentity", ["external_id", "session_id"]),
        ("PanelAction", ["reference"]),
    ):
        rows = apps.get_model("annotation", name).objects.order_by("pk")
        for row in rows.iterator():
            row.save(update_fields=fields)


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0026_audit_append_only"),
    ]

    operations = [
        migrations.AlterField(
            model_name="panelaction",
            name="reference",
            field=annotation.common.encryption.EncryptedCharField(blank=True, max_length=240),
        ),
        migrations.AlterField(
            model_name="participantidentity",
            name="external_id",
            field=annotation.common.encryption.EncryptedCharField(max_length=240),
        ),
        migrations.AlterField(
            model_name="participantidentity",
            name="session_id",
            field=annotation.common.encryption.EncryptedCharField(blank=True, max_length=240),
        ),
        migrations.RunPython(encrypt_ids, migrations.RunPython.noop),
    ]
