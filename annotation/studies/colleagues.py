"""Who works on a study, with which role, and how owners invite them."""

from __future__ import annotations

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.audit.record import record
from annotation.models import (
    AuditAction,
    MembershipRole,
    Study,
    StudyInvitation,
    StudyMembership,
    Team,
    TeamMember,
    TeamRole,
)
from annotation.studies.invitation_links import make_link, open_links, use_link

# --- Everybody who works on a study, with the way in which each of them does


@dataclass(frozen=True)
class Member:
    """``id`` is the row of a place of one's own; neither the study's maker nor a team has one."""

    id: int | None
    username: str
    role: str
    team: str = ""


def list_members(study: Study) -> list[Member]:
    """Return whoever made the study, then those with a place of their own, then teams.

    Three queries, whatever their number. Somebody with two ways in is listed with both.
    """
    owner = [Member(None, study.owner.get_username(), MembershipRole.OWNER)] if study.owner else []
    own = study.memberships.order_by("user__username").values_list("pk", "user__username", "role")
    by_team = (
        TeamMember.objects.filter(team__roles__study=study)
        .order_by("team__name", "team", "user__username")
        .values_list("user__username", "team__roles__role", "team__name")
    )
    return [*owner, *(Member(*row) for row in own), *(Member(None, *row) for row in by_team)]


# --- Inviting colleagues


@transaction.atomic
def invite_colleague(*, study: Study, role: str, invited_by: User) -> tuple[StudyInvitation, str]:
    """Return an invitation and the secret of its link, which nobody can read again.

    Raises `ValidationError` for an unknown role.
    """
    _check_role(role)
    made = make_link(StudyInvitation, created_by=invited_by, study=study, role=role)
    _log(study, invited_by, role, "link made")
    return made


@transaction.atomic
def accept_invitation(*, token: str, user: User) -> Study:
    """Give ``user`` the role of a link, once; a higher role that they have stays.

    Raises `ValidationError` where the link does not hold, or the account is no researcher's.
    """
    invitation = use_link(StudyInvitation, token=token, user=user)
    study = Study.objects.get(pk=invitation.study_id)
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
def give_team_role(*, study: Study, team: Team, role: str) -> TeamRole:
    """Give everybody of a team a role in a study. Raises `ValidationError` for an unknown one."""
    _check_role(role)
    given, is_new = TeamRole.objects.get_or_create(study=study, team=team, defaults={"role": role})
    if not is_new:
        change_role(place=given, role=role)
    return given


@transaction.atomic
def change_role(*, place: StudyMembership | TeamRole, role: str) -> None:
    """Give a colleague or a team another role. Raises `ValidationError` for an unknown one."""
    _check_role(role)
    if place.role != role:
        place.role = role
        place.save(update_fields=["role"])


@transaction.atomic
def take_access(*, place: StudyMembership | TeamRole) -> int:
    """Take the access of a colleague or a team away, and every open link to the study with it.

    A link is for whoever opens it first, so an older one would let them return. Returns the number
    of links. What they did stays; the log names them.
    """
    links = open_links(StudyInvitation).filter(study=place.study)
    roles = list(links.values_list("role", flat=True))
    for role in roles:
        record(
            AuditAction.ACCESS, "invitation", study=place.study, detail=f"{role}, link taken back"
        )
    links.delete()
    place.delete()
    return len(roles)


def _check_role(role: str) -> None:
    if role not in MembershipRole.values:
        raise ValidationError(_("Choose one of the roles."))


def _log(study: Study, actor: User, role: str, what: str) -> None:
    record(AuditAction.ACCESS, "invitation", actor=actor, study=study, detail=f"{role}, {what}")
