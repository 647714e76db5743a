"""The page of a study on which its owners invite colleagues, and the page that a link opens."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import MembershipRole, StudyKind
from annotation.researcher.pages.page import ResearcherPage, refusals_shown
from annotation.researcher.pages.study_page import StudyPage
from annotation.studies.colleagues import (
    OPEN_DAYS,
    accept_invitation,
    change_role,
    find_invitation,
    invite_colleague,
    open_invitations,
    remove_colleague,
    revoke_invitation,
)

#: What each role may do, as the page says it.
ROLE_NOTES = {
    MembershipRole.OWNER: gettext_lazy("Everything, and gives access to others."),
    MembershipRole.EDITOR: gettext_lazy(
        "Changes, launches and closes the study; decides and pays."
    ),
    MembershipRole.REVIEWER: gettext_lazy("Sees everything and decides on submissions and texts."),
    MembershipRole.VIEWER: gettext_lazy("Sees and downloads everything, changes nothing."),
}
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
            "invitations": open_invitations().filter(study=self.study).select_related("created_by"),
            "roles": [(role.value, role.label, ROLE_NOTES[role]) for role in MembershipRole],
            "days": OPEN_DAYS,
            "link": "",
        }

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        if not self.may_manage:
            raise PermissionDenied
        sent = request.POST
        with refusals_shown(request):
            if sent.get("do") == "invite":
                _made, token = invite_colleague(
                    study=self.study, role=sent.get("role", ""), invited_by=self.user
                )
                address = reverse("admin:annotation_study_join", args=[token])
                # Shown in the answer itself: no address and no session ever holds it.
                response = self.show(link=f"{settings.SITE_URL}{address}")
                response["Cache-Control"] = "no-store"
                return response
            self._change(sent)
        return redirect(request.path)

    def _change(self, sent: Any) -> None:
        do, key = sent.get("do"), sent.get("key", "")
        key = key if key.isascii() and key.isdigit() else "0"
        if do == "revoke":
            invitation = get_object_or_404(open_invitations(), study=self.study, pk=key)
            revoke_invitation(invitation=invitation, revoked_by=self.user)
            messages.success(self.request, _("The link no longer works."))
        elif do in {"role", "remove"}:
            member = get_object_or_404(self.study.memberships, pk=key)
            who = {"who": member.user.get_username()}
            if do == "role":
                change_role(member=member, role=sent.get("role", ""))
                messages.success(self.request, _("%(who)s has another role.") % who)
            else:
                remove_colleague(member=member)
                messages.success(self.request, _("%(who)s has no access any more.") % who)


class JoinPage(ResearcherPage):
    """What the link of an invitation opens, for whoever is signed in as a researcher."""

    route = "join/<str:token>/"
    name = "join"
    template_name = "admin/annotation/study/join.html"

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        invitation = find_invitation(kwargs["token"])
        role = MembershipRole(invitation.role) if invitation else None
        response = self.show(
            title=_("Invitation"),
            invitation=invitation,
            role_label=role.label if role else "",
            role_note=ROLE_NOTES[role] if role else "",
            status=200 if invitation else 404,
        )
        response["Referrer-Policy"] = "no-referrer"
        return response

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        with refusals_shown(request):
            study = accept_invitation(token=kwargs["token"], user=self.user)
            messages.success(request, _("You now work on “%(study)s”.") % {"study": study})
            model = STUDY_ADMINS.get(study.kind, "study")
            return redirect(f"admin:annotation_{model}_overview", study.pk)
        return redirect(request.path)
