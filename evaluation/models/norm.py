"""Norms: what people said outside the platform, in published studies."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords


class NormKind(models.TextChoices):
    PERCENT = "percent", _("Percentage of people who named an attribute")
    FAVORABILITY = "favorability", _("Favorability of attributes")
    PRESTIGE = "prestige", _("Prestige of occupations, by survey title")


def validate_values(values: object) -> None:
    """Raise unless ``values`` maps labels to numbers, and holds one at least."""
    if not isinstance(values, dict) or not values:
        raise ValidationError(_("A norm holds at least one value."))
    if not all(isinstance(value, int | float) for value in values.values()):
        raise ValidationError(_("Every value of a norm is a number."))


class Norm(models.Model):
    """An external human reference: values by label, with the study that they come from."""

    slug = models.SlugField(max_length=100, unique=True)
    title = models.CharField(max_length=160)
    kind = models.CharField(max_length=20, choices=NormKind)
    year = models.PositiveSmallIntegerField(null=True, blank=True)
    values = models.JSONField(default=dict, validators=[validate_values])
    citation = models.TextField(help_text=_("The study, and where its values were read."))
    note = models.TextField(blank=True, help_text=_("What a reader of the values should know."))
    created_at = models.DateTimeField(auto_now_add=True)
    history = HistoricalRecords()

    class Meta:
        ordering = ["kind", "year", "slug"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=NormKind.values), name="norm_kind_is_known"
            )
        ]

    def __str__(self) -> str:
        return self.title
