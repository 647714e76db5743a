"""The page of a team: who belongs to it, how others join; and the page that a link opens."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import Study, Team, TeamInvitation
from annotation.researcher.pages.colleagues import STUDY_ADMINS, InvitationPage, read_key, show_link
from annotation.researcher.pages.page import ButtonPage, button
from annotation.studies.invitation_links import OPEN_DAYS, open_links
from annotation.studies.teams import (
    add_to_team,
    delete_team,
    invite_to_team,
    join_team,
    leave_team,
    remove_from_team,
    rename_team,
)

TEAMS = "admin:annotation_team_changelist"


class TeamPage(ButtonPage):
    """Its people see it and may leave; whoever manages it does everything else."""

    route = "<int:pk>/change/"
    name = "change"
    template_name = "admin/annotation/study/team.html"
    buttons_need = "may_manage"
    team: Team

    def prepare(self) -> None:
        self.team = get_object_or_404(Team.objects.visible_to(self.user), pk=self.kwargs["pk"])

    @cached_property
    def may_manage(self) -> bool:
        return self.team.is_managed_by(self.user)

    def get_context_data(self) -> dict[str, Any]:
        studies = Study.objects.visible_to(self.user)
        roles = self.team.roles.filter(study__in=studies).select_related("study")
        return {
            **super().get_context_data(),
            "title": self.team.name,
            "team": self.team,
            "may_manage": self.may_manage,
            "members": self.team.members.select_related("user").order_by("user__username"),
            "me": self.user,
            "studies": [
                (reverse(f"admin:annotation_{model}_overview", args=[role.study_id]), role)
                for role in roles.order_by("study__title", "pk")
                for model in [STUDY_ADMINS.get(role.study.kind, "study")]
            ],
            "invitations": open_links(TeamInvitation).filter(team=self.team),
            "days": OPEN_DAYS,
            "link": "",
        }

    @button("leave", needs="")
    def leave(self) -> HttpResponse:
        leave_team(member=get_object_or_404(self.team.members, user=self.user))
        messages.success(self.request, _("You have left “%(team)s”.") % {"team": self.team})
        return redirect(self.request.path if self.may_manage else TEAMS)

    @button("delete")
    def delete_team(self) -> HttpResponse:
        if "confirmed" not in self.request.POST:
            return self.show(asks_to_delete=True)
        name = {"team": self.team.name}
        delete_team(team=self.team)
        messages.success(self.request, _("“%(team)s” is deleted.") % name)
        return redirect(TEAMS)

    @button("invite")
    def invite(self) -> HttpResponse:
        _made, token = invite_to_team(team=self.team, invited_by=self.user)
        return show_link(self, of="team", token=token)

    @button("rename")
    def rename(self) -> str:
        rename_team(team=self.team, name=self.request.POST.get("name", ""))
        return _("Renamed.")

    @button("add")
    def add(self) -> str:
        member = add_to_team(team=self.team, username=self.request.POST.get("username", ""))
        return _("%(who)s belongs to the team.") % {"who": member.user.get_username()}

    @button("remove")
    def remove(self) -> str:
        member = get_object_or_404(self.team.members, pk=read_key(self.request.POST))
        who = {"who": member.user.get_username()}
        remove_from_team(member=member)
        return _("%(who)s no longer belongs to the team.") % who

    @button("revoke")
    def revoke(self) -> str:
        links = open_links(TeamInvitation).filter(team=self.team)
        get_object_or_404(links, pk=read_key(self.request.POST)).delete()
        return _("The link no longer works.")


class JoinTeamPage(InvitationPage):
    """Joins a team."""

    invitations = TeamInvitation

    def accept(self, token: str, user: User) -> HttpResponse:
        team = join_team(token=token, user=user)
        messages.success(self.request, _("You now belong to “%(team)s”.") % {"team": team})
        return redirect("admin:annotation_team_change", team.pk)
