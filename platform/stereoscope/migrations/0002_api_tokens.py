"""Tokens of the API are kept as digests. Those from before go on, for everything, for 90 days."""

import hashlib
from datetime import timedelta

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.utils import timezone


OLD_TABLE = "authtoken_token"


def take_over(apps, schema_editor):
    """Keep old tokens by their digests, and drop the table that held them in plain text."""
    connection = schema_editor.connection
    with connection.cursor() as cursor:
        if OLD_TABLE not in connection.introspection.table_names(cursor):
            return
        cursor.execute(f"SELECT key, user_id FROM {OLD_TABLE}")  # noqa: S608 - our own name
        rows = cursor.fetchall()
    ApiToken = apps.get_model("stereoscope", "ApiToken")
    for key, user_id in rows:
        ApiToken.objects.create(
            user_id=user_id,
            name="from before",
            digest=hashlib.sha256(key.encode()).hexdigest(),
            scopes=["pay", "read", "write"],
            expires_at=timezone.now() + timedelta(days=90),
        )
    schema_editor.execute(f"DROP TABLE {OLD_TABLE}")


class Migration(migrations.Migration):

    dependencies = [
        ('stereoscope', '0001_worker_presence'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text='What it is for, such as “nightly export”.', max_length=80)),
                ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                ('scopes', models.JSONField(default=list)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('last_used_at', models.DateTimeField(editable=False, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'API token',
                'ordering': ['-pk'],
            },
        ),
        migrations.RunPython(take_over, migrations.RunPython.noop),
    ]
