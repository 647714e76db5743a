"""Tokens of links are encrypted at rest; the links themselves stay as they are."""

import annotation.common.encryption
import annotation.models.tokens
from django.db import migrations


def encrypt_tokens(apps, schema_editor):
    """Store tokens anew: read as they are, written under the first key."""
    for name, fields in (
        ("Submission", ["token", "resume_token", "holder_key"]),
        ("UsedLink", ["holder_key"]),
        ("Annotator", ["invitation_token"]),
    ):
        model = apps.get_model("annotation", name)
        for row in model.objects.order_by("pk").only("pk", *fields).iterator():
            row.save(update_fields=fields)


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0037_several_counterparts'),
    ]

    operations = [
        migrations.AlterField(
            model_name='annotator',
            name='invitation_token',
            field=annotation.common.encryption.EncryptedCharField(default=annotation.models.tokens.new_token, max_length=240, unique=True),
        ),
        migrations.AlterField(
            model_name='submission',
            name='holder_key',
            field=annotation.common.encryption.EncryptedCharField(blank=True, editable=False, help_text='Kept by the browser that started.', max_length=240),
        ),
        migrations.AlterField(
            model_name='submission',
            name='resume_token',
            field=annotation.common.encryption.EncryptedCharField(editable=False, help_text='For a browser that knows the panel id alone: it continues the survey.', max_length=240, null=True, unique=True),
        ),
        migrations.AlterField(
            model_name='submission',
            name='token',
            field=annotation.common.encryption.EncryptedCharField(default=annotation.models.tokens.new_token, editable=False, max_length=240, unique=True),
        ),
        migrations.AlterField(
            model_name='usedlink',
            name='holder_key',
            field=annotation.common.encryption.EncryptedCharField(max_length=240),
        ),
        migrations.RunPython(encrypt_tokens, migrations.RunPython.noop),
    ]
