"""Participants. Only `ParticipantIdentity` knows who somebody is outside the platform."""

from __future__ import annotations

from django.db import models

from annotation.models.study import Panel, Study
from annotation.models.tokens import new_public_id


class Participant(models.Model):
    """A person under a pseudonym."""

    pseudonym = models.CharField(max_length=40, unique=True, default=new_public_id)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.pseudonym


class ParticipantIdentity(models.Model):
    """The panel's id of a participant in one study. Exports of data never join this table."""

    participant = models.ForeignKey(
        Participant, on_delete=models.CASCADE, related_name="identities"
    )
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="identities")
    panel = models.CharField(max_length=12, choices=Panel)
    external_id = models.CharField(max_length=120)
    session_id = models.CharField(max_length=120, blank=True)

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
