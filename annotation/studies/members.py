"""Everybody who works on a study, with the way in which each of them does."""

from __future__ import annotations

from dataclasses import dataclass

from annotation.models import MembershipRole, Study, TeamMember


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
