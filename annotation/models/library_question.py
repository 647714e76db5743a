"""Questions that researchers keep for other studies, and those that come with the platform."""

from __future__ import annotations

from typing import Self

from django.conf import settings
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.utils.translation import gettext_lazy as _

#: The kind of a question about the participant; all other kinds are those of steps.
ABOUT_PARTICIPANT = "participant"


class LibraryQuestionQuerySet(models.QuerySet["LibraryQuestion"]):
    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return what ``user`` may use: their own, those shared with all, those of the platform."""
        if getattr(user, "is_superuser", False):
            return self.all()
        return self.filter(models.Q(owner=user.pk) | models.Q(is_shared=True))

    def changeable_by(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return what ``user`` may rename, share and delete; what the platform brings stays."""
        own = self.filter(slug="")
        return own if getattr(user, "is_superuser", False) else own.filter(owner=user.pk)


class LibraryQuestion(models.Model):
    """One step of a survey, or one question about the participant, to be put into any study.

    ``content`` is read by annotation.instruments.questions; its picture or sound stands beside it.
    """

    name = models.CharField(_("name"), max_length=120)
    slug = models.SlugField(
        max_length=60, blank=True, editable=False, help_text=_("Of a ready-made one.")
    )
    kind = models.CharField(max_length=20, editable=False)
    content = models.JSONField(editable=False)
    language = models.CharField(max_length=35, default="en", editable=False)
    asks = models.TextField(_("asks"), editable=False, help_text=_("What it says first."))
    source = models.TextField(
        _("source and notes"),
        blank=True,
        max_length=1000,
        help_text=_("Where the question is from, and what to mind when it is used."),
    )
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        editable=False,
        related_name="library_questions",
    )
    is_shared = models.BooleanField(
        _("for all researchers"),
        default=False,
        help_text=_("Everybody on this installation can use it; only its owner can change it."),
    )
    file_name = models.CharField(max_length=200, blank=True, editable=False)
    file = models.BinaryField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LibraryQuestionQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        verbose_name = _("question")
        verbose_name_plural = _("questions")
        constraints = [
            models.UniqueConstraint(
                fields=["slug"], condition=~models.Q(slug=""), name="one_ready_made_per_slug"
            ),
            models.CheckConstraint(
                condition=models.Q(slug="") | models.Q(is_shared=True, owner=None),
                name="ready_made_question_is_everybodys",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_ready_made(self) -> bool:
        return bool(self.slug)
