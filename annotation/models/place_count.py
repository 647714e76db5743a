"""How many places finished submissions take: kept by the database's own triggers, never counted."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.study import Study


class PlaceScope(models.TextChoices):
    COUNTED = "counted", _("Submissions that count")
    PILOT = "pilot", _("Submissions of pilots")


class PlaceKind(models.TextChoices):
    GROUP = "group", _("Group or text")
    ARM = "arm", _("Arm")


class PlaceCount(models.Model):
    """Finished submissions that rated a group, or are in an arm. Rows whose data are excluded,
    and those in progress, are in none of the numbers."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="place_counts")
    scope = models.CharField(max_length=8, choices=PlaceScope)
    kind = models.CharField(max_length=5, choices=PlaceKind)
    key = models.CharField(max_length=100, help_text=_("Slug of the group, name of the arm."))
    accepted = models.IntegerField(default=0)
    in_review = models.IntegerField(default=0)
    doubtful = models.IntegerField(default=0, help_text=_("In review after a failed check."))

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "scope", "kind", "key"], name="one_count_per_place"
            ),
            models.CheckConstraint(
                condition=models.Q(accepted__gte=0, in_review__gte=0, doubtful__gte=0),
                name="place_counts_are_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study_id}, {self.key}: {self.accepted}"
