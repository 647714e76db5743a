"""The page of a study on which its owners invite colleagues, and the page that a link opens."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import (
    MembershipRole,
    StudyInvitation,
    StudyKind,
    StudyMembership,
    Team,
    TeamRole,
)
from annotation.researcher.pages.invitations import InvitationPage, show_link
from annotation.researcher.pages.page import refusals_shown
from annotation.researcher.pages.study_page import StudyPage
from annotation.studies.colleagues import (
    accept_invitation,
    change_role,
    give_team_role,
    invite_colleague,
    revoke_invitation,
    take_access,
)
from annotation.studies.invitation_links import OPEN_DAYS, open_links

#: What each role may do, as the page says it.
ROLE_NOTES = {
    MembershipRole.OWNER: gettext_lazy("Everything, and gives access to others."),
    MembershipRole.EDITOR: gettext_lazy(
        "Changes, launches and closes the study; decides and pays."
    ),
    MembershipRole.REVIEWER: gettext_lazy("Sees everything and decides on submissions and texts."),
    MembershipRole.VIEWER: gettext_lazy("Sees and downloads everything, changes nothing."),
}
LONGEST_KEY = 18
STUDY_ADMINS: dict[str, str] = {
    StudyKind.COUNTERPART_WRITING: "writingstudy",
    StudyKind.COUNTERPART_JUDGMENT: "judgmentstudy",
}


class ColleaguesPage(StudyPage):
    """Members see who works on the study; owners invite, change roles and take access away."""

    route = "<int:pk>/colleagues/"
    name = tab = "colleagues"
    template_name = "admin/annotation/study/colleagues.html"
    viewers_may_post = True  # the page asks for more itself: editors may not either

    @cached_property
    def may_manage(self) -> bool:
        return self.study.is_owned_by(self.user)

    def get_context_data(self) -> dict[str, Any]:
        return {
            **super().get_context_data(),
            "head_template": getattr(self.model_admin, "change_form_outer_before_template", ""),
            "may_manage": self.may_manage,
            "members": self.study.memberships.select_related("user").order_by("user__username"),
            "team_roles": self._list_teams(),
            "teams": Team.objects.visible_to(self.user).exclude(roles__study=self.study),
            "invitations": open_links(StudyInvitation).filter(study=self.study),
            "roles": [(role.value, role.label, ROLE_NOTES[role]) for role in MembershipRole],
            "days": OPEN_DAYS,
            "link": "",
        }

    def _list_teams(self) -> list[tuple[TeamRole, str]]:
        """Return the teams with the names of their people. Two queries."""
        roles = self.study.team_roles.select_related("team").prefetch_related("team__members__user")
        return [
            (role, ", ".join(sorted(one.user.get_username() for one in role.team.members.all())))
            for role in roles.order_by("team__name", "pk")
        ]

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        if not self.may_manage:
            raise PermissionDenied
        sent = request.POST
        with refusals_shown(request):
            if sent.get("do") == "invite":
                _made, token = invite_colleague(
                    study=self.study, role=sent.get("role", ""), invited_by=self.user
                )
                return show_link(self, of="study", token=token)
            self._change(sent)
        return redirect(request.path)

    def _change(self, sent: QueryDict) -> None:
        do, role = sent.get("do"), sent.get("role", "")
        if do == "revoke":
            links = open_links(StudyInvitation).filter(study=self.study)
            invitation = get_object_or_404(links, pk=read_key(sent))
            revoke_invitation(invitation=invitation, revoked_by=self.user)
            messages.success(self.request, _("The link no longer works."))
        elif do == "add-team":
            teams = Team.objects.visible_to(self.user)
            team = get_object_or_404(teams, pk=read_key(sent))
            give_team_role(study=self.study, team=team, role=role)
            messages.success(self.request, _("“%(team)s” works on this study.") % {"team": team})
        elif do in {"role", "remove"}:
            place, who = self._find_place(sent)
            if do == "role":
                change_role(place=place, role=role)
                messages.success(self.request, _("%(who)s has another role.") % {"who": who})
            else:
                n = take_access(place=place)
                messages.success(self.request, _("%(who)s no longer has access.") % {"who": who})
                if n:
                    text = ngettext(
                        "%(n)d link that was not used yet no longer works.",
                        "%(n)d links that were not used yet no longer work.",
                        n,
                    )
                    messages.info(self.request, text % {"n": n})

    def _find_place(self, sent: QueryDict) -> tuple[StudyMembership | TeamRole, str]:
        """Return the row of a colleague or of a team, and whose it is."""
        key = read_key(sent)
        if sent.get("whose") == "team":
            role = get_object_or_404(self.study.team_roles, pk=key)
            return role, str(role.team)
        member = get_object_or_404(self.study.memberships, pk=key)
        return member, member.user.get_username()


def read_key(sent: QueryDict) -> int:
    """Return the key of a row that was sent; 0, which no row has, for anything else."""
    key = sent.get("key", "")
    return int(key) if key.isascii() and key.isdigit() and len(key) < LONGEST_KEY else 0


class JoinPage(InvitationPage):
    """Gives a role in a study."""

    invitations = StudyInvitation

    def describe(self, invitation: StudyInvitation) -> dict[str, Any]:
        return {"role_note": ROLE_NOTES[MembershipRole(invitation.role)]}

    def accept(self, token: str, user: User) -> HttpResponse:
        study = accept_invitation(token=token, user=user)
        messages.success(self.request, _("You now work on “%(study)s”.") % {"study": study})
        model = STUDY_ADMINS.get(study.kind, "study")
        return redirect(f"admin:annotation_{model}_overview", study.pk)
