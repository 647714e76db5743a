"""What the health page needs to know; tokens of the API; log-ins of providers."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils import timezone

from stereoscope.second_factor.models import Authenticator as Authenticator
from stereoscope.second_factor.models import RecoveryCodes as RecoveryCodes


class WorkerPresence(models.Model):
    """A worker that is running. It renews ``seen_at`` every few seconds and goes when it stops."""

    name = models.CharField(max_length=160, unique=True, help_text="Celery's name of the worker.")
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class MilestoneName(models.TextChoices):
    """What is done again and again, and missed only once it is needed."""

    BACKUP = "backup", "Backup"
    RETENTION = "retention", "Erasing what is due"


class Milestone(models.Model):
    """When something was last done."""

    name = models.CharField(max_length=12, choices=MilestoneName, primary_key=True)
    at = models.DateTimeField()
    detail = models.CharField(max_length=120, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name} at {self.at}"

    @classmethod
    def note(cls, name: MilestoneName, detail: str = "") -> None:
        """Write down that something was done now. Two queries."""
        done = {"at": timezone.now(), "detail": detail}
        cls._default_manager.update_or_create(name=name, defaults=done)


class Scope(models.TextChoices):
    """What a token is good for, within the rights of its account."""

    READ = "read", "Read"
    WRITE = "write", "Create and change"
    PAY = "pay", "See and send payments"


class ApiToken(models.Model):
    """A program's key to the API. Only its digest is kept: the key is shown once."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=80, help_text="What it is for, such as “nightly export”.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering = ["-pk"]
        verbose_name = "API token"

    def __str__(self) -> str:
        return f"{self.name} of {self.user}"


class ExternalLogin(models.Model):
    """An account at a provider, by the provider's own id, and the account here that it opens."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="external_logins"
    )
    issuer = models.CharField(max_length=200)
    subject = models.CharField(max_length=255)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="one_account_per_subject"),
            models.UniqueConstraint(fields=["issuer", "user"], name="one_subject_per_account"),
        ]

    def __str__(self) -> str:
        return f"login of {self.user_id} at {self.issuer}"
