"""A new database: the tables as they are after all of these migrations, in one step."""

from importlib import import_module

from django.conf import settings
from django.db import migrations

from annotation.common.new_database import CreateTables

REPLACED = [
    "0001_initial",
    "0002_review_ground",
    "0003_counterparts",
    "0004_paired_groups",
    "0005_writing_studies",
    "0006_text_spans",
    "0007_judgment_studies",
    "0008_judges_wanted",
    "0009_survey_flow_and_pilot",
    "0009_whole_drafts",
    "0010_panels_and_payments",
    "0011_annotator_statements",
    "0012_own_words_and_participant_summary",
    "0013_late_returns_and_domains",
    "0014_quality_thresholds",
    "0015_agreement_rules_and_review_flags",
    "0016_remove_decide_by_checks",
    "0017_languages",
    "0018_target_margins",
    "0019_translated_from",
    "0020_plain_help_texts",
    "0021_error_coding",
    "0022_visit_holders",
    "0023_writing_per_source",
    "0024_guise_rating",
    "0025_withdrawals_and_audit",
    "0026_audit_append_only",
    "0027_encrypted_ids",
    "0028_audit_never_deleted",
    "0029_pictures_and_sounds",
    "0030_arms",
    "0031_kept_flag_counts",
    "0032_study_roles_and_invitations",
    "0033_teams_and_own_saves",
    "0034_library_questions",
    "0035_audit_seals",
]
PROTECTIONS = [
    operation
    for name in ("0026_audit_append_only", "0028_audit_never_deleted")
    for operation in import_module(f"annotation.migrations.{name}").Migration.operations
]


class Migration(migrations.Migration):
    replaces = [("annotation", name) for name in REPLACED]
    initial = True
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [CreateTables("annotation", REPLACED), *PROTECTIONS]
