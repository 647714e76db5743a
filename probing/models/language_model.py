"""A language model: where it comes from and what is known about it."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from annotation.models.tokens import new_public_id


class ModelKind(models.TextChoices):
    MASKED = "masked", _("Masked")


class ModelSource(models.TextChoices):
    HUB = "hub", _("Model hub")
    PATH = "path", _("Local path")


class LanguageModel(models.Model):
    public_id = models.CharField(max_length=12, unique=True, default=new_public_id, editable=False)
    name = models.CharField(max_length=160, unique=True, help_text=_("As reports print it."))
    kind = models.CharField(max_length=12, choices=ModelKind, default=ModelKind.MASKED)
    family = models.CharField(max_length=40, blank=True, help_text=_("For example bert, roberta."))
    source = models.CharField(max_length=8, choices=ModelSource)
    location = models.CharField(
        max_length=500, help_text=_("A hub id such as roberta-large, or a folder on the workers.")
    )
    revision = models.CharField(
        max_length=80,
        blank=True,
        help_text=_("A commit of the hub; runs store the one they used."),
    )
    parameter_count = models.BigIntegerField(null=True, blank=True)
    is_demo = models.BooleanField(
        default=False,
        editable=False,
        help_text=_("A fixture without knowledge of the world: its scores mean nothing."),
    )
    created_at = models.DateTimeField(auto_now_add=True)
    history = HistoricalRecords()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "location", "revision"], name="one_model_per_source"
            )
        ]

    def __str__(self) -> str:
        return self.name
