"""Participants. Only `ParticipantIdentity` knows who somebody is outside the platform."""

from __future__ import annotations

from django.core.validators import MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.common.encryption import LONGEST_STORED, EncryptedCharField
from annotation.models.study import Study, panel_choices
from annotation.models.tokens import new_public_id


class Participant(models.Model):
    """A person under a pseudonym."""

    pseudonym = models.CharField(max_length=40, unique=True, default=new_public_id)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.pseudonym


class ParticipantIdentity(models.Model):
    """The panel's id of a participant in one study. Exports of data never join this table.

    Ids are encrypted at rest: `annotation.common.encryption`.
    """

    participant = models.ForeignKey(
        Participant, on_delete=models.CASCADE, related_name="identities"
    )
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="identities")
    panel = models.CharField(max_length=12, choices=panel_choices)
    external_id = EncryptedCharField(max_length=LONGEST_STORED)
    session_id = EncryptedCharField(max_length=LONGEST_STORED, blank=True)

    class Meta:
        verbose_name_plural = "participant identities"
        constraints = [
            models.UniqueConstraint(
                fields=["panel", "external_id", "study"], name="one_identity_per_study"
            )
        ]

    def __str__(self) -> str:
        # No external id here: string forms end up in logs and histories.
        return f"identity of {self.participant_id} in {self.study_id}"


class ParticipantSummary(models.Model):
    """Who took part in imported data whose answers cannot be joined to ratings.

    Counts per question, never people: what one person said to two questions is not kept.
    ``questions`` is read by `annotation.studies.participant_answers`.
    """

    study = models.OneToOneField(
        Study, on_delete=models.CASCADE, related_name="participant_summary"
    )
    n_people = models.PositiveIntegerField(validators=[MinValueValidator(1)])
    questions = models.JSONField(
        help_text=_("For every question: how many people gave which answers.")
    )
    source = models.TextField(help_text=_("File and SHA-256 that the counts come from."))

    class Meta:
        verbose_name_plural = "participant summaries"

    def __str__(self) -> str:
        return f"participants of {self.study_id}"
