"""Flags of a large study as a worker counted them last: seconds of work that no page waits for."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.study import Study


class KeptFlagCounts(models.Model):
    """Numbers alone. ``state`` names what they depend on; another state asks for another count."""

    study = models.OneToOneField(Study, on_delete=models.CASCADE, related_name="kept_flag_counts")
    state = models.CharField(
        max_length=64, help_text=_("SHA-256 of the submissions, thresholds and code counted with.")
    )
    finished = models.PositiveIntegerField()
    flagged = models.PositiveIntegerField()
    by_name = models.JSONField(default=dict, help_text=_("Submissions by the name of a flag."))
    counted_at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"flags of {self.study_id}"
