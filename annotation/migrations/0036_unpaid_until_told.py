"""A study promises no pay until somebody says how much. Studies that are there keep theirs."""

from django.db import migrations, models

HELP = "What everyone who finishes is promised. 0: no pay, and no page speaks of it."


class Migration(migrations.Migration):
    dependencies = [("annotation", "0035_audit_seals")]

    # The default is given to new rows by the code: no table changes.
    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.AlterField(
                    model,
                    "reward_cents",
                    models.PositiveIntegerField(
                        default=0, help_text=HELP, verbose_name="reward in cents"
                    ),
                )
                for model in ("study", "historicalstudy")
            ]
        )
    ]
