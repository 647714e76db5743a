"""What became of people who came back after their reservation had lapsed."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.submission import Submission


class ReturnResult(models.TextChoices):
    KEPT = "kept", _("Went on with the same groups")
    CHANGED = "changed", _("Went on with other groups")
    LOST = "lost", _("The place was taken")


class LateReturn(models.Model):
    """One return to a study whose quotas are hard. Groups are slugs in the order of the pages."""

    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="late_returns"
    )
    lapsed_at = models.DateTimeField()
    returned_at = models.DateTimeField()
    result = models.CharField(max_length=8, choices=ReturnResult)
    groups_before = models.JSONField(default=list)
    groups_after = models.JSONField(default=list)

    class Meta:
        ordering = ["submission", "returned_at", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["submission", "lapsed_at"], name="one_return_per_lapse")
        ]

    def __str__(self) -> str:
        return f"{self.submission_id}: {self.result}"
