"""The page of a study on which its owners invite colleagues, and the page that a link opens."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, ClassVar

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.functional import cached_property
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.debug import sensitive_post_parameters

from annotation.annotators.forms import JoinForm
from annotation.models import (
    MembershipRole,
    StudyInvitation,
    StudyKind,
    StudyMembership,
    Team,
    TeamRole,
)
from annotation.models.colleague import InvitationLink
from annotation.models.study import is_active_staff
from annotation.researcher.pages.page import ButtonPage, ResearcherPage, button, refusals_shown
from annotation.researcher.pages.study_page import StudyPage
from annotation.studies.colleagues import (
    accept_invitation,
    change_role,
    give_team_role,
    invite_colleague,
    revoke_invitation,
    take_access,
)
from annotation.studies.invitation_links import OPEN_DAYS, find_link, open_links

# --- What invitations to a study and to a team share: a link shown once, and the page it opens

MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"


class ColleagueForm(JoinForm):
    """User name and password of a researcher's new account."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["username"].help_text = _(
            "Letters, digits and @ . + - _ only. Your colleagues will see it."
        )


def offer_second_factor(request: HttpRequest) -> None:
    """Offer it on the next page, to somebody who has just made an account."""
    offer = _('Make your account safer: <a href="{}">turn on a second factor</a>.')
    messages.info(request, format_html(offer, reverse("security")))


def show_link(page: ResearcherPage, *, of: str, token: str) -> HttpResponse:
    """Return the page with a new link in the answer itself: no address or session ever holds it."""
    address = reverse(f"admin:annotation_{of}_join", args=[token])
    response = page.show(link=f"{settings.SITE_URL}{address}")
    response["Cache-Control"] = "no-store"
    return response


@method_decorator(sensitive_post_parameters("password", "repeated"), name="dispatch")
class InvitationPage(ResearcherPage):
    """What the link of an invitation opens. Without a researcher's account, it makes one."""

    route = "join/<str:token>/"
    name = "join"
    template_name = "admin/annotation/study/join.html"
    is_open = True
    invitations: ClassVar[type[InvitationLink]]

    def describe(self, invitation: Any) -> dict[str, Any]:
        """Return what the page says besides about one of ``invitations``."""
        return {}

    def accept(self, token: str, user: User) -> HttpResponse:
        """Use the link, say so, and return the way to what it gave."""
        raise NotImplementedError

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        invitation = find_link(self.invitations, kwargs["token"])
        if not is_active_staff(request.user):
            return self._show_sign_up(invitation, ColleagueForm())
        context = self.describe(invitation) if invitation else {}
        status = 200 if invitation else 404
        return self.show(status=status, title=_("Invitation"), invitation=invitation, **context)

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        invitation = find_link(self.invitations, kwargs["token"])
        if invitation is None:
            return self.get(request, **kwargs)
        if is_active_staff(request.user):
            with refusals_shown(request):
                return self.accept(kwargs["token"], self.user)
            return redirect(request.path)
        form = ColleagueForm(request.POST)
        if not form.is_valid():
            return self._show_sign_up(invitation, form)
        with refusals_shown(request), transaction.atomic():
            # Its rights are those of any account of the staff: it sees what is shared with it.
            user = User.objects.create_user(
                form.cleaned_data["username"],
                password=form.cleaned_data["password"],
                is_staff=True,
            )
            answer = self.accept(kwargs["token"], user)
            login(request, user, backend=MODEL_BACKEND)
            offer_second_factor(request)
            return answer
        return redirect(request.path)  # somebody else was faster

    def _show_sign_up(self, invitation: InvitationLink | None, form: ColleagueForm) -> HttpResponse:
        if invitation is None:
            notice = {
                "title": _("This link does not work any more"),
                "text": _("It was used, taken back or is too old. Ask for a new one."),
                "link": reverse("admin:login"),
                "link_text": _("Sign in"),
            }
            return render(
                self.request,
                "annotation/annotators/notice.html",
                {"notice": notice},
                status=HTTPStatus.NOT_FOUND,
            )
        context = {**self.describe(invitation), "invitation": invitation, "form": form}
        return render(
            self.request,
            "admin/annotation/study/sign_up.html",
            context,
            status=HTTPStatus.UNPROCESSABLE_ENTITY if form.is_bound else HTTPStatus.OK,
        )


# --- Colleagues of a study

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


class ColleaguesPage(ButtonPage, StudyPage):
    """Members see who works on the study; owners invite, change roles and take access away."""

    route = "<int:pk>/colleagues/"
    name = tab = "colleagues"
    template_name = "admin/annotation/study/colleagues.html"
    viewers_may_post = True  # the buttons need more: editors may not either
    buttons_need = "may_manage"

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

    @button("invite")
    def invite(self) -> HttpResponse:
        role = self.request.POST.get("role", "")
        _made, token = invite_colleague(study=self.study, role=role, invited_by=self.user)
        return show_link(self, of="study", token=token)

    @button("revoke")
    def revoke(self) -> str:
        links = open_links(StudyInvitation).filter(study=self.study)
        invitation = get_object_or_404(links, pk=read_key(self.request.POST))
        revoke_invitation(invitation=invitation, revoked_by=self.user)
        return _("The link no longer works.")

    @button("add-team")
    def add_team(self) -> str:
        teams = Team.objects.visible_to(self.user)
        team = get_object_or_404(teams, pk=read_key(self.request.POST))
        give_team_role(study=self.study, team=team, role=self.request.POST.get("role", ""))
        return _("“%(team)s” works on this study.") % {"team": team}

    @button("role")
    def change_role(self) -> str:
        place, who = self._find_place()
        change_role(place=place, role=self.request.POST.get("role", ""))
        return _("%(who)s has another role.") % {"who": who}

    @button("remove")
    def remove(self) -> str:
        place, who = self._find_place()
        if n := take_access(place=place):
            text = ngettext(
                "%(n)d link that was not used yet no longer works.",
                "%(n)d links that were not used yet no longer work.",
                n,
            )
            messages.info(self.request, text % {"n": n})
        return _("%(who)s no longer has access.") % {"who": who}

    def _find_place(self) -> tuple[StudyMembership | TeamRole, str]:
        """Return the row of a colleague or of a team, and whose it is."""
        key = read_key(self.request.POST)
        if self.request.POST.get("whose") == "team":
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
