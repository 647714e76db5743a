"""Teams: colleagues who have their roles in studies together. Whoever makes one manages it."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from annotation.models import Team, TeamInvitation, TeamMember
from annotation.models.study import is_active_staff
from annotation.studies.invitation_links import make_link, open_links, use_link


@transaction.atomic
def create_team(*, name: str, owner: User) -> Team:
    """Return a team with its owner in it. Raises `ValidationError` for a name that cannot be."""
    team = Team(name=clean_name(name), owner=owner)
    team.full_clean()
    team.save()
    TeamMember.objects.create(team=team, user=owner)
    return team


@transaction.atomic
def rename_team(*, team: Team, name: str) -> None:
    """Raises `ValidationError` for a name that cannot be."""
    team.name = clean_name(name)
    team.full_clean()
    team.save(update_fields=["name"])


@transaction.atomic
def add_to_team(*, team: Team, username: str) -> TeamMember:
    """Take an account into a team. Raises `ValidationError` where it is no researcher's."""
    user = User.objects.filter(username=username.strip()).first()
    if user is None or not is_active_staff(user):
        raise ValidationError(_("No researcher has an account of this name."))
    return _join(team, user)


@transaction.atomic
def invite_to_team(*, team: Team, invited_by: User) -> tuple[TeamInvitation, str]:
    """Return an invitation and the secret of its link, which nobody can read again."""
    return make_link(TeamInvitation, created_by=invited_by, team=team)


@transaction.atomic
def join_team(*, token: str, user: User) -> Team:
    """Take ``user`` into the team of a link, once.

    Raises `ValidationError` where the link does not hold, or the account is no researcher's.
    """
    team = use_link(TeamInvitation, token=token, user=user).team
    _join(team, user)
    return team


@transaction.atomic
def remove_from_team(*, member: TeamMember) -> None:
    """Take a person out of a team, and every open link to it, by which they could return."""
    open_links(TeamInvitation).filter(team=member.team).delete()
    leave_team(member=member)


@transaction.atomic
def leave_team(*, member: TeamMember) -> None:
    """Take somebody out of a team, and with it the roles that they had by it."""
    member.delete()


@transaction.atomic
def delete_team(*, team: Team) -> None:
    """Take a team apart: its roles end, its people stay."""
    team.roles.all().delete()  # first: the log names the team of each study
    team.delete()


def _join(team: Team, user: User) -> TeamMember:
    return TeamMember.objects.get_or_create(team=team, user=user)[0]


def clean_name(name: str) -> str:
    """Return a team's name with single spaces."""
    return " ".join(name.split())
