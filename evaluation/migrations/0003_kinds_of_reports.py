"""Reports of several kinds: on a corpus too, on any number of runs, and without a study."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0003_counterparts'),
        ('evaluation', '0002_longer_titles'),
        ('probing', '0001_initial'),
    ]

    operations = [
        migrations.AlterField(
            model_name='report',
            name='kind',
            field=models.CharField(help_text='Its name in the registry of kinds.', max_length=40),
        ),
        migrations.AlterField(
            model_name='report',
            name='parameters',
            field=models.JSONField(blank=True, default=dict, help_text='Validated by the schema of the kind.'),
        ),
        migrations.AlterField(
            model_name='report',
            name='study',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reports', to='annotation.study'),
        ),
        migrations.AddField(
            model_name='report',
            name='corpus',
            field=models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reports', to='annotation.corpus'),
        ),
        migrations.RenameField(model_name='report', old_name='run', new_name='old_run'),
        # Nullable and without a name of its own on the run, whose name goes to the new field.
        migrations.AlterField(
            model_name='report',
            name='old_run',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='probing.run'),
        ),
        migrations.CreateModel(
            name='ReportRun',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('report', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='run_links', to='evaluation.report')),
                ('run', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='report_links', to='probing.run')),
            ],
            options={
                'ordering': ['report', 'pk'],
                'constraints': [models.UniqueConstraint(fields=('report', 'run'), name='one_link_per_report_and_run')],
            },
        ),
        migrations.AddField(
            model_name='report',
            name='runs',
            field=models.ManyToManyField(blank=True, related_name='reports', through='evaluation.ReportRun', to='probing.run'),
        ),
    ]
