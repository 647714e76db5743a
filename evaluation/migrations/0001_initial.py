import annotation.models.tokens
import django.db.models.deletion
import evaluation.models.norm
import simple_history.models
from django.conf import settings
from annotation.common.new_database import CreateTables
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True
    # A database of before 1.0 that has this one has these tables.
    replaces = [("evaluation", "0009_report_pins_shares_drawings")]

    dependencies = [
        ('annotation', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('probing', '0001_initial'),
    ]

    operations = [CreateTables([
        migrations.CreateModel(
            name='HistoricalNorm',
            fields=[
                ('id', models.BigIntegerField(auto_created=True, blank=True, db_index=True, verbose_name='ID')),
                ('slug', models.SlugField(max_length=100)),
                ('title', models.CharField(max_length=160)),
                ('kind', models.CharField(choices=[('percent', 'Percentage of people who named an attribute'), ('favourability', 'Favourability of attributes'), ('prestige', 'Prestige of occupations, by survey title')], max_length=20)),
                ('year', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('values', models.JSONField(default=dict, validators=[evaluation.models.norm.validate_values])),
                ('citation', models.TextField(help_text='The study, and where its values were read.')),
                ('note', models.TextField(blank=True, help_text='What a reader of the values should know.')),
                ('created_at', models.DateTimeField(blank=True, editable=False)),
                ('history_id', models.AutoField(primary_key=True, serialize=False)),
                ('history_date', models.DateTimeField(db_index=True)),
                ('history_change_reason', models.CharField(max_length=100, null=True)),
                ('history_type', models.CharField(choices=[('+', 'Created'), ('~', 'Changed'), ('-', 'Deleted')], max_length=1)),
                ('history_user', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'verbose_name': 'historical norm',
                'verbose_name_plural': 'historical norms',
                'ordering': ('-history_date', '-history_id'),
                'get_latest_by': ('history_date', 'history_id'),
            },
            bases=(simple_history.models.HistoricalChanges, models.Model),
        ),
        migrations.CreateModel(
            name='Norm',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('slug', models.SlugField(max_length=100, unique=True)),
                ('title', models.CharField(max_length=160)),
                ('kind', models.CharField(choices=[('percent', 'Percentage of people who named an attribute'), ('favourability', 'Favourability of attributes'), ('prestige', 'Prestige of occupations, by survey title')], max_length=20)),
                ('year', models.PositiveSmallIntegerField(blank=True, null=True)),
                ('values', models.JSONField(default=dict, validators=[evaluation.models.norm.validate_values])),
                ('citation', models.TextField(help_text='The study, and where its values were read.')),
                ('note', models.TextField(blank=True, help_text='What a reader of the values should know.')),
                ('created_at', models.DateTimeField(auto_now_add=True)),
            ],
            options={
                'ordering': ['kind', 'year', 'slug'],
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['percent', 'favourability', 'prestige'])), name='norm_kind_is_known')],
            },
        ),
        migrations.CreateModel(
            name='Report',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('public_id', models.CharField(default=annotation.models.tokens.new_public_id, editable=False, max_length=12, unique=True)),
                ('kind', models.CharField(help_text='Its name in the registry of kinds.', max_length=40)),
                ('title', models.CharField(max_length=240)),
                ('study', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reports', to='annotation.study')),
                ('second_study', models.ForeignKey(blank=True, help_text='Set beside the first, for kinds that compare two.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='second_reports', to='annotation.study')),
                ('corpus', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='reports', to='annotation.corpus')),
                ('parameters', models.JSONField(blank=True, default=dict, help_text='Validated by the schema of the kind.')),
                ('status', models.CharField(choices=[('waiting', 'Waiting'), ('building', 'Building'), ('final', 'Final'), ('failed', 'Failed')], default='waiting', max_length=10)),
                ('inputs', models.JSONField(blank=True, default=dict, help_text='What went in, with the hashes of the data.')),
                ('result', models.JSONField(blank=True, help_text='The analysis as it was computed.', null=True)),
                ('code_version', models.CharField(blank=True, max_length=60)),
                ('library_versions', models.JSONField(blank=True, default=dict)),
                ('is_pinned', models.BooleanField(default=False, help_text='Whether it stands first in the list.', verbose_name='pinned')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='reports', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('started_at', models.DateTimeField(blank=True, help_text='When a worker began to build it.', null=True)),
                ('built_at', models.DateTimeField(blank=True, null=True)),
                ('seconds', models.FloatField(blank=True, null=True)),
                ('error', models.TextField(blank=True)),
            ],
            options={
                'ordering': ['-pk'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('status', 'final'), _negated=True), ('result__isnull', False), _connector='OR'), name='final_report_has_a_result')],
            },
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
        migrations.CreateModel(
            name='ReportShare',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('report', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='shares', to='evaluation.report')),
                ('digest', models.CharField(help_text='SHA-256 of the token.', max_length=64, unique=True)),
                ('created_by', models.ForeignKey(help_text='The link opens only what this account may see.', on_delete=django.db.models.deletion.CASCADE, related_name='report_shares', to=settings.AUTH_USER_MODEL)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('expires_at', models.DateTimeField()),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['report', '-pk'],
            },
        ),
        migrations.CreateModel(
            name='ReportDrawing',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('report', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='drawings', to='evaluation.report')),
                ('key', models.CharField(help_text='SHA-256 of specification and renderer.', max_length=64)),
                ('svg', models.BinaryField(help_text='Compressed by zlib.')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('report', 'key'), name='one_drawing_per_report_and_key')],
            },
        ),
        migrations.CreateModel(
            name='ReportFile',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('report', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='files', to='evaluation.report')),
                ('name', models.CharField(help_text='File name with its extension.', max_length=80)),
                ('media_type', models.CharField(max_length=100)),
                ('content', models.BinaryField()),
            ],
            options={
                'ordering': ['report', 'name'],
                'constraints': [models.UniqueConstraint(fields=('report', 'name'), name='one_report_file_per_name')],
            },
        ),
    ])]
