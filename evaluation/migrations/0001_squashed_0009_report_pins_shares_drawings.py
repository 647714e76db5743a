"""A new database: the tables as they are after all of these migrations, in one step."""

from django.conf import settings
from django.db import migrations

from annotation.common.new_database import CreateTables

REPLACED = [
    "0001_initial",
    "0002_longer_titles",
    "0003_kinds_of_reports",
    "0004_copy_runs",
    "0005_drop_old_run",
    "0006_longer_media_types",
    "0007_norms",
    "0008_second_study",
    "0009_report_pins_shares_drawings",
]


class Migration(migrations.Migration):
    replaces = [("evaluation", name) for name in REPLACED]
    initial = True
    dependencies = [
        ("annotation", "0035_audit_seals"),
        ("probing", "0012_prices_of_served_models"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [CreateTables("evaluation", REPLACED)]
