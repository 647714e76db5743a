"""A report: a stored, reproducible document made of analyses."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models import Corpus, Study
from annotation.models.tokens import new_public_id
from probing.models import Run


class ReportStatus(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    BUILDING = "building", _("Building")
    FINAL = "final", _("Final")
    FAILED = "failed", _("Failed")


class Report(models.Model):
    """`kind` names an entry of the registry, which says what of study, corpus and runs it needs."""

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id, editable=False)
    kind = models.CharField(max_length=40, help_text=_("Its name in the registry of kinds."))
    title = models.CharField(max_length=240)
    study = models.ForeignKey(
        Study, on_delete=models.PROTECT, null=True, blank=True, related_name="reports"
    )
    second_study = models.ForeignKey(
        Study,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="second_reports",
        help_text=_("Set beside the first, for kinds that compare two."),
    )
    corpus = models.ForeignKey(
        Corpus, on_delete=models.PROTECT, null=True, blank=True, related_name="reports"
    )
    runs: models.ManyToManyField[Run, models.Model] = models.ManyToManyField(
        Run, through="evaluation.ReportRun", blank=True, related_name="reports"
    )
    parameters = models.JSONField(
        default=dict, blank=True, help_text=_("Validated by the schema of the kind.")
    )
    status = models.CharField(max_length=10, choices=ReportStatus, default=ReportStatus.WAITING)
    inputs = models.JSONField(
        default=dict, blank=True, help_text=_("What went in, with the hashes of the data.")
    )
    result = models.JSONField(
        null=True, blank=True, help_text=_("The analysis as it was computed.")
    )
    code_version = models.CharField(max_length=60, blank=True)
    library_versions = models.JSONField(default=dict, blank=True)
    is_pinned = models.BooleanField(
        _("pinned"), default=False, help_text=_("Whether it stands first in the list.")
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="reports",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(
        null=True, blank=True, help_text=_("When a worker began to build it.")
    )
    built_at = models.DateTimeField(null=True, blank=True)
    seconds = models.FloatField(null=True, blank=True)
    error = models.TextField(blank=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(status=ReportStatus.FINAL) | models.Q(result__isnull=False),
                name="final_report_has_a_result",
            )
        ]

    def __str__(self) -> str:
        return self.title


class ReportRun(models.Model):
    """A run that a report rests on. It stays as long as the report does."""

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="run_links")
    run = models.ForeignKey(Run, on_delete=models.PROTECT, related_name="report_links")

    class Meta:
        ordering = ["report", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["report", "run"], name="one_link_per_report_and_run")
        ]

    def __str__(self) -> str:
        return f"{self.report_id}: {self.run_id}"


class ReportFile(models.Model):
    """One rendered file of a report: the HTML document or a table as CSV."""

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="files")
    name = models.CharField(max_length=80, help_text=_("File name with its extension."))
    media_type = models.CharField(max_length=100)
    content = models.BinaryField()

    class Meta:
        ordering = ["report", "name"]
        constraints = [
            models.UniqueConstraint(fields=["report", "name"], name="one_report_file_per_name")
        ]

    def __str__(self) -> str:
        return self.name


class ReportDrawing(models.Model):
    """One chart of a report, drawn: kept under the hash of what it was drawn from.

    Drawing takes longer than all else of a page. Where a later version draws another chart, the
    hash is another one, and the chart is drawn at the first view.
    """

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="drawings")
    key = models.CharField(max_length=64, help_text=_("SHA-256 of specification and renderer."))
    svg = models.BinaryField(help_text=_("Compressed by zlib."))

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["report", "key"], name="one_drawing_per_report_and_key")
        ]

    def __str__(self) -> str:
        return self.key


class ReportShare(models.Model):
    """A link that opens a report without an account, until it ends or is revoked.

    The link itself is shown once; what is kept of its token is a digest.
    """

    report = models.ForeignKey(Report, on_delete=models.CASCADE, related_name="shares")
    digest = models.CharField(max_length=64, unique=True, help_text=_("SHA-256 of the token."))
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="report_shares",
        help_text=_("The link opens only what this account may see."),
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["report", "-pk"]

    def __str__(self) -> str:
        return f"link {self.pk} to {self.report_id}"
