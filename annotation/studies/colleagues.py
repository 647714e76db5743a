"""Who works on a study: invited by a link, with a role that its owners give and take."""

from __future__ import annotations

import hashlib
from datetime import timedelta

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.audit.record import record
from annotation.models import (
    AuditAction,
    MembershipRole,
    Study,
    StudyInvitation,
    StudyMembership,
)
from annotation.models.study import is_active_staff
from annotation.models.tokens import new_token

OPEN_DAYS = 7


@transaction.atomic
def invite_colleague(*, study: Study, role: str, invited_by: User) -> tuple[StudyInvitation, str]:
    """Return an invitation and the secret of its link, which nobody can read again.

    Raises `ValidationError` for an unknown role.
    """
    _check_role(role)
    token = new_token()
    invitation = StudyInvitation.objects.create(
        study=study,
        role=role,
        digest=digest_of(token),
        created_by=invited_by,
        expires_at=timezone.now() + timedelta(days=OPEN_DAYS),
    )
    _log(study, invited_by, role, "link made")
    return invitation, token


def find_invitation(token: str) -> StudyInvitation | None:
    """Return the invitation of a link that is open: not used, not taken back, not too old."""
    return open_invitations().filter(digest=digest_of(token)).select_related("study").first()


def open_invitations() -> QuerySet[StudyInvitation]:
    return StudyInvitation.objects.filter(used_at=None, expires_at__gt=timezone.now())


@transaction.atomic
def accept_invitation(*, token: str, user: User) -> Study:
    """Give ``user`` the role of a link, once; a higher role that they have stays.

    Raises `ValidationError` where the link does not hold, or the account is no researcher's.
    """
    if not is_active_staff(user):
        raise ValidationError(_("This account is not a researcher’s."))
    invitation = open_invitations().select_for_update().filter(digest=digest_of(token)).first()
    if invitation is None:
        raise ValidationError(_("This link was used, taken back or is too old. Ask for a new one."))
    study = Study.objects.get(pk=invitation.study_id)
    invitation.used_by, invitation.used_at = user, timezone.now()
    invitation.save(update_fields=["used_by", "used_at"])
    if study.owner_id == user.pk:
        return study
    member = StudyMembership.objects.filter(study=study, user=user).first()
    order = list(MembershipRole.values)
    if member is None:
        StudyMembership.objects.create(study=study, user=user, role=invitation.role)
    elif order.index(invitation.role) < order.index(member.role):
        member.role = invitation.role
        member.save(update_fields=["role"])
    return study


@transaction.atomic
def revoke_invitation(*, invitation: StudyInvitation, revoked_by: User) -> None:
    """Take an open link back: it leads nowhere from now on."""
    _log(invitation.study, revoked_by, invitation.role, "link taken back")
    invitation.delete()


@transaction.atomic
def change_role(*, member: StudyMembership, role: str) -> None:
    """Give a colleague another role. Raises `ValidationError` for an unknown one."""
    _check_role(role)
    if member.role != role:
        member.role = role
        member.save(update_fields=["role"])


@transaction.atomic
def remove_colleague(*, member: StudyMembership) -> None:
    """Take a colleague's access away. What they did stays, and the log says who it was."""
    member.delete()


def digest_of(token: str) -> str:
    """Return the SHA-256 of a link's secret; it is random, so that it needs no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def _check_role(role: str) -> None:
    if role not in MembershipRole.values:
        raise ValidationError(_("Choose one of the roles."))


def _log(study: Study, actor: User, role: str, what: str) -> None:
    record(AuditAction.ACCESS, "invitation", actor=actor, study=study, detail=f"{role}, {what}")
