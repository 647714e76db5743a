"""Annotators: people who are invited to write or judge counterparts, and log in."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords

from annotation.common.encryption import LONGEST_STORED, EncryptedCharField
from annotation.models.study import Study, StudyStatus
from annotation.models.tokens import new_public_id, new_token


class AnnotatorQuerySet(models.QuerySet["Annotator"]):
    """Places in studies."""

    def active(self) -> AnnotatorQuerySet:
        """Return the places that were not taken back, joined or only invited, by number."""
        return self.filter(removed_at__isnull=True).order_by("number")

    def held_by(self, user: AbstractBaseUser | AnonymousUser) -> AnnotatorQuerySet:
        """Return an account's places, newest study first; a removed annotator has none."""
        if not (user.is_authenticated and user.is_active):
            return self.none()
        places = self.filter(user=user.pk, removed_at__isnull=True).select_related("study")
        return places.order_by("-study__created_at", "-pk")

    def of_account(self, user: AbstractBaseUser | AnonymousUser) -> AnnotatorQuerySet:
        """Return the places on which an account works: a draft is nobody's work yet."""
        return self.held_by(user).exclude(study__status=StudyStatus.DRAFT)


class Annotator(models.Model):
    """A person's place in one study; pages, exports and reports know the number alone.

    The account says who it is, and joins the same person's places in other studies, so that
    nobody judges a counterpart of a text that they rewrote.
    """

    public_id = models.CharField(max_length=12, unique=True, default=new_public_id, editable=False)
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="annotators")
    number = models.PositiveIntegerField(help_text=_("Counts from 1 within the study."))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="annotator_places",
        help_text=_("None until the invitation is accepted."),
    )
    email = models.EmailField(blank=True, help_text=_("Where the invitation went."))
    invitation_token = EncryptedCharField(max_length=LONGEST_STORED, unique=True, default=new_token)
    invited_at = models.DateTimeField(auto_now_add=True)
    accepted_at = models.DateTimeField(null=True, blank=True)
    removed_at = models.DateTimeField(
        null=True, blank=True, help_text=_("From then on no work and no access.")
    )

    objects = AnnotatorQuerySet.as_manager()

    class Meta:
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="one_annotator_per_number"),
            models.UniqueConstraint(fields=["study", "user"], name="one_place_per_study"),
        ]

    def __str__(self) -> str:
        # No name and no address here: string forms end up in logs and exports.
        return f"Annotator {self.number}"


class AnnotatorStatement(models.Model):
    """What a study's data statement says of its annotators: of all together, never of one."""

    study = models.OneToOneField(
        Study, on_delete=models.CASCADE, related_name="annotator_statement"
    )
    recruitment = models.TextField(
        blank=True, help_text=_("How they were found, who was asked, and who was taken.")
    )
    background = models.TextField(
        blank=True,
        help_text=_("Languages and varieties they speak, age, gender, race, where they come from."),
    )
    training = models.TextField(
        blank=True, help_text=_("Expertise they brought, and how they were trained for the task.")
    )
    pay = models.TextField(
        blank=True, help_text=_("Rate with its currency, or in words, such as unpaid co-authors.")
    )
    history = HistoricalRecords()

    def __str__(self) -> str:
        return f"annotators of {self.study_id}"
