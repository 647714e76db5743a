"""A withdrawal: the receipt that a participant keeps, and what still has to be erased."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.submission import Submission


class Withdrawal(models.Model):
    """One withdrawal. It says how much was erased, never what."""

    submission = models.OneToOneField(
        Submission, on_delete=models.CASCADE, related_name="withdrawal"
    )
    withdrawn_at = models.DateTimeField(auto_now_add=True)
    erased = models.JSONField(default=dict, help_text=_("How many rows were erased, by kind."))
    was_accepted = models.BooleanField(
        default=False, help_text=_("Whether reports built before may rest on the answers.")
    )
    ids_erased_at = models.DateTimeField(
        null=True, help_text=_("When the panel’s ids were erased: their payment is settled.")
    )

    class Meta:
        ordering = ["-withdrawn_at", "-pk"]

    def __str__(self) -> str:
        return f"withdrawal of {self.submission_id}"
