"""The audit log: who viewed, exported, decided, changed or gave access, and when.

Rows are added, never changed and never deleted: the model refuses it, and so does the database
(triggers).
"""

from __future__ import annotations

from typing import Any, NoReturn

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.study import Study, is_active_staff


class AuditAction(models.TextChoices):
    VIEWED = "viewed", _("Viewed")
    EXPORTED = "exported", _("Exported")
    DECIDED = "decided", _("Decided")
    PAID = "paid", _("Paid")
    CHANGED = "changed", _("Changed")
    ACCESS = "access", _("Changed access")
    ERASED = "erased", _("Erased")
    SIGNED_IN = "signed_in", _("Signed in")


class AppendOnly(Exception):  # noqa: N818 - said to a programmer
    """Somebody tried to change the audit log."""


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    def readable_by(self, user: AbstractBaseUser | AnonymousUser) -> AuditQuerySet:
        """Return what ``user`` may read: of studies that they own; superusers read all."""
        if not is_active_staff(user):
            return self.none()
        if getattr(user, "is_superuser", False):
            return self
        return self.filter(study__in=Study.objects.owned_by(user).values("pk"))

    def update(self, **values: Any) -> NoReturn:
        raise AppendOnly

    def delete(self) -> NoReturn:
        raise AppendOnly


class AuditEntry(models.Model):
    """One thing that somebody did. It names accounts and public ids, never participants."""

    happened_at = models.DateTimeField(auto_now_add=True, db_index=True)
    action = models.CharField(max_length=10, choices=AuditAction)
    actor = models.CharField(
        max_length=150, blank=True, help_text=_("The account; empty for the platform itself.")
    )
    # No constraints: what an entry is about may be deleted, the entry stays.
    study = models.ForeignKey(
        Study,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        null=True,
        related_name="audit_entries",
    )
    target = models.CharField(max_length=120, help_text=_("What it was done to."))
    detail = models.CharField(max_length=300, blank=True)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["study", "-id"], name="audit_by_study")]

    def __str__(self) -> str:
        return f"{self.actor or 'the platform'} {self.action} {self.target}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnly
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly


class AuditSeal(models.Model):
    """A link of the chain over the log: a digest over an entry and the seal before it."""

    number = models.PositiveBigIntegerField(primary_key=True)
    # No constraint: the seal of an entry that somebody removed tells of it.
    entry = models.OneToOneField(
        AuditEntry,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        related_name="seal",
    )
    digest = models.CharField(max_length=64)

    class Meta:
        ordering = ["number"]

    def __str__(self) -> str:
        return f"seal {self.number}"
