"""Invitations of colleagues: a link with a role, once, for some days."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.study import MembershipRole, Study


class StudyInvitation(models.Model):
    """A role in a study for whoever opens a link first. The link itself is kept nowhere."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=8, choices=MembershipRole, default=MembershipRole.VIEWER)
    digest = models.CharField(max_length=64, unique=True, help_text=_("SHA-256 of the link."))
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    used_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"invitation to {self.study_id} as {self.role}"
