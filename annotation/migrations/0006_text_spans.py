from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0005_writing_studies'),
    ]

    operations = [
        migrations.AddField(
            model_name=model,
            name='spans',
            field=models.JSONField(blank=True, default=list, help_text='Marked spans, such as noun phrases: start, end (in characters) and kind.'),
        )
        for model in ('historicaltext', 'text')
    ]
