"""The single run of a report, which is among its runs since the migration before this one."""

from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0004_copy_runs'),
    ]

    operations = [
        migrations.RemoveField(model_name='report', name='old_run'),
    ]
