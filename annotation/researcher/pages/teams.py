"""The page of a team: who belongs to it, how others join; and the page that a link opens."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models import Study, Team, TeamInvitation
from annotation.researcher.pages.colleagues import STUDY_ADMINS, InvitationPage, read_key, show_link
from annotation.researcher.pages.page import ResearcherPage, refusals_shown
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


class TeamPage(ResearcherPage):
    """Its people see it and may leave; whoever manages it does everything else."""

    route = "<int:pk>/change/"
    name = "change"
    template_name = "admin/annotation/study/team.html"
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

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        do = request.POST.get("do")
        if do == "leave":
            member = get_object_or_404(self.team.members, user=self.user)
            leave_team(member=member)
            messages.success(request, _("You have left “%(team)s”.") % {"team": self.team})
            return redirect(request.path if self.may_manage else TEAMS)
        if not self.may_manage:
            raise PermissionDenied
        if do == "delete":
            return self._delete()
        with refusals_shown(request):
            if do == "invite":
                _made, token = invite_to_team(team=self.team, invited_by=self.user)
                return show_link(self, of="team", token=token)
            self._change(request.POST)
        return redirect(request.path)

    def _change(self, sent: QueryDict) -> None:
        do = sent.get("do")
        if do == "rename":
            rename_team(team=self.team, name=sent.get("name", ""))
            messages.success(self.request, _("Renamed."))
        elif do == "add":
            member = add_to_team(team=self.team, username=sent.get("username", ""))
            who = {"who": member.user.get_username()}
            messages.success(self.request, _("%(who)s belongs to the team.") % who)
        elif do == "remove":
            member = get_object_or_404(self.team.members, pk=read_key(sent))
            who = {"who": member.user.get_username()}
            remove_from_team(member=member)
            messages.success(self.request, _("%(who)s no longer belongs to the team.") % who)
        elif do == "revoke":
            links = open_links(TeamInvitation).filter(team=self.team)
            get_object_or_404(links, pk=read_key(sent)).delete()
            messages.success(self.request, _("The link no longer works."))

    def _delete(self) -> HttpResponse:
        if "confirmed" not in self.request.POST:
            return self.show(asks_to_delete=True)
        name = {"team": self.team.name}
        delete_team(team=self.team)
        messages.success(self.request, _("“%(team)s” is deleted.") % name)
        return redirect(TEAMS)


class JoinTeamPage(InvitationPage):
    """Joins a team."""

    invitations = TeamInvitation

    def accept(self, token: str, user: User) -> HttpResponse:
        team = join_team(token=token, user=user)
        messages.success(self.request, _("You now belong to “%(team)s”.") % {"team": team})
        return redirect("admin:annotation_team_change", team.pk)
