"""Copies what reports rested on into the new places: their run, and the hashes of their inputs."""

from django.db import migrations


def copy(apps, schema_editor):
    Report = apps.get_model("evaluation", "Report")
    ReportRun = apps.get_model("evaluation", "ReportRun")
    for report in Report.objects.exclude(old_run=None).only("pk", "old_run", "inputs"):
        ReportRun.objects.create(report=report, run_id=report.old_run_id)
        record = report.inputs
        if "study" in record and "run" in record:
            record["hashes"] = {
                "study ratings_hash": record["study"]["ratings_hash"],
                "run scores_hash": record["run"]["scores_hash"],
            }
            report.save(update_fields=["inputs"])


def copy_back(apps, schema_editor):
    Report = apps.get_model("evaluation", "Report")
    ReportRun = apps.get_model("evaluation", "ReportRun")
    for link in ReportRun.objects.order_by("-pk"):
        Report.objects.filter(pk=link.report_id).update(old_run=link.run_id)


class Migration(migrations.Migration):

    dependencies = [
        ('evaluation', '0003_kinds_of_reports'),
    ]

    operations = [
        migrations.RunPython(copy, copy_back, elidable=True),
    ]
