import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # A database of before 1.0 that has this one has these tables.
    replaces = [("stereoscope", "0005_second_factors_at_rest")]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('otp_static', '0003_add_timestamps'),
        ('otp_totp', '0003_add_timestamps'),
    ]

    operations = [
        migrations.CreateModel(
            name='Milestone',
            fields=[
                ('name', models.CharField(choices=[('backup', 'Backup'), ('retention', 'Erasing what is due')], max_length=12, primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('detail', models.CharField(blank=True, max_length=120)),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='WorkerPresence',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('name', models.CharField(help_text="Celery's name of the worker.", max_length=160, unique=True)),
                ('started_at', models.DateTimeField()),
                ('seen_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='Authenticator',
            fields=[
            ],
            options={
                'verbose_name': 'authenticator',
                'proxy': True,
                'indexes': [],
                'constraints': [],
            },
            bases=('otp_totp.totpdevice',),
        ),
        migrations.CreateModel(
            name='RecoveryCodes',
            fields=[
            ],
            options={
                'verbose_name_plural': 'recovery codes',
                'proxy': True,
                'indexes': [],
                'constraints': [],
            },
            bases=('otp_static.staticdevice',),
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='api_tokens', to=settings.AUTH_USER_MODEL)),
                ('name', models.CharField(help_text='What it is for, such as “nightly export”.', max_length=80)),
                ('digest', models.CharField(editable=False, max_length=64, unique=True)),
                ('scopes', models.JSONField(default=list)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('last_used_at', models.DateTimeField(editable=False, null=True)),
            ],
            options={
                'verbose_name': 'API token',
                'ordering': ['-pk'],
            },
        ),
        migrations.CreateModel(
            name='ExternalLogin',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='external_logins', to=settings.AUTH_USER_MODEL)),
                ('issuer', models.CharField(max_length=200)),
                ('subject', models.CharField(max_length=255)),
            ],
            options={
                'ordering': ['pk'],
                'constraints': [models.UniqueConstraint(fields=('issuer', 'subject'), name='one_account_per_subject'), models.UniqueConstraint(fields=('issuer', 'user'), name='one_subject_per_account')],
            },
        ),
    ]
