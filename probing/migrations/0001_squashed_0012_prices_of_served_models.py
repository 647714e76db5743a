"""A new database: the tables as they are after all of these migrations, in one step."""

from django.conf import settings
from django.db import migrations

from annotation.common.new_database import CreateTables

REPLACED = [
    "0001_initial",
    "0002_texts_and_prompts",
    "0003_chat_spending",
    "0004_word_lists",
    "0005_imported_runs",
    "0006_purposes",
    "0007_labelled_templates",
    "0008_score_access",
    "0009_labelled_texts",
    "0010_intelligence_purpose",
    "0011_trainings",
    "0012_prices_of_served_models",
]


class Migration(migrations.Migration):
    replaces = [("probing", name) for name in REPLACED]
    initial = True
    dependencies = [
        ("annotation", "0035_audit_seals"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [CreateTables("probing", REPLACED)]
