from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0015_agreement_rules_and_review_flags'),
    ]

    operations = [
        migrations.RemoveField(
            model_name='historicalstudy',
            name='decide_by_checks',
        ),
        migrations.RemoveField(
            model_name='study',
            name='decide_by_checks',
        ),
    ]
