"""Colleagues: teams, their roles in studies, and links that invite to a study or a team."""

from __future__ import annotations

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import models
from django.utils.translation import gettext_lazy as _

from annotation.models.study import MembershipRole, Study, is_active_staff


class InvitationLink(models.Model):
    """Something for whoever opens a link first. The link itself is kept nowhere."""

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
        abstract = True
        ordering = ["-pk"]

    def may_still_invite(self) -> bool:
        """Whether the account that made the link could make it today."""
        raise NotImplementedError


class StudyInvitation(InvitationLink):
    """A role in a study."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=8, choices=MembershipRole, default=MembershipRole.VIEWER)

    def __str__(self) -> str:
        return f"invitation to {self.study_id} as {self.role}"

    def may_still_invite(self) -> bool:
        return self.created_by is not None and self.study.is_owned_by(self.created_by)


class TeamQuerySet(models.QuerySet["Team"]):
    def visible_to(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return the teams that ``user`` manages or belongs to; superusers see all."""
        joined = TeamMember.objects.filter(user=user.pk).values("team")
        return self._of(user, models.Q(owner=user.pk) | models.Q(pk__in=joined))

    def managed_by(self, user: AbstractBaseUser | AnonymousUser) -> Self:
        """Return the teams whose name and people ``user`` may change."""
        return self._of(user, models.Q(owner=user.pk))

    def _of(self, user: AbstractBaseUser | AnonymousUser, own: models.Q) -> Self:
        if not is_active_staff(user):
            return self.none()
        if getattr(user, "is_superuser", False):
            return self.all()
        return self.filter(own)


class Team(models.Model):
    """Colleagues who have a role in a study together, each for as long as they belong to it."""

    name = models.CharField(max_length=80)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="owned_teams",
        editable=False,
        help_text=_("Who says who belongs to it. Nobody: administrators do."),
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = TeamQuerySet.as_manager()

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="one_team_per_name",
                violation_error_message=_("You have a team of this name."),
            )
        ]

    def __str__(self) -> str:
        return self.name

    def is_managed_by(self, user: AbstractBaseUser | AnonymousUser) -> bool:
        """One query."""
        return Team.objects.managed_by(user).filter(pk=self.pk).exists()


class TeamMember(models.Model):
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="team_places"
    )
    joined_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["team", "user"], name="one_place_per_team_and_user")
        ]

    def __str__(self) -> str:
        return f"{self.user_id} in team {self.team_id}"


class TeamRole(models.Model):
    """The role that everybody of a team has in a study."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="team_roles")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="roles")
    role = models.CharField(max_length=8, choices=MembershipRole, default=MembershipRole.VIEWER)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "team"], name="one_role_per_team_and_study")
        ]

    def __str__(self) -> str:
        return f"team {self.team_id} in {self.study_id}: {self.role}"


class TeamInvitation(InvitationLink):
    """A place in a team."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations")

    def __str__(self) -> str:
        return f"invitation to team {self.team_id}"

    def may_still_invite(self) -> bool:
        return self.created_by is not None and self.team.is_managed_by(self.created_by)
