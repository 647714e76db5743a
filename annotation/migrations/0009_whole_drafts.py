from django.db import migrations, models


def mark_drafts(apps, schema_editor):
    """Every draft with a text was shown in place of what was submitted; it still is."""
    tasks = apps.get_model("annotation", "WritingTask")
    tasks.objects.exclude(draft="").update(has_draft=True)


class Migration(migrations.Migration):
    dependencies = [("annotation", "0008_judges_wanted")]

    operations = [
        migrations.AddField(
            model_name="writingtask",
            name="draft_not_interpretable",
            field=models.BooleanField(default=False),
        ),
        migrations.AddField(
            model_name="writingtask",
            name="draft_reason",
            field=models.CharField(blank=True, max_length=30),
        ),
        migrations.AddField(
            model_name="writingtask",
            name="draft_detail",
            field=models.CharField(blank=True, max_length=400),
        ),
        migrations.AddField(
            model_name="writingtask",
            name="has_draft",
            field=models.BooleanField(
                default=False, help_text="Whether the draft differs from what was submitted."
            ),
        ),
        migrations.RunPython(mark_drafts, migrations.RunPython.noop, elidable=True),
    ]
