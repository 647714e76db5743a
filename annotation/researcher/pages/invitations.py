"""What invitations to a study and to a team share: a link shown once, and the page it opens."""

from __future__ import annotations

from typing import Any, ClassVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.models.colleague import InvitationLink
from annotation.researcher.pages.page import ResearcherPage, refusals_shown
from annotation.studies.invitation_links import find_link


def show_link(page: ResearcherPage, *, of: str, token: str) -> HttpResponse:
    """Return the page with a new link in the answer itself: no address or session ever holds it."""
    address = reverse(f"admin:annotation_{of}_join", args=[token])
    response = page.show(link=f"{settings.SITE_URL}{address}")
    response["Cache-Control"] = "no-store"
    return response


class InvitationPage(ResearcherPage):
    """What the link of an invitation opens, for whoever is signed in as a researcher."""

    route = "join/<str:token>/"
    name = "join"
    template_name = "admin/annotation/study/join.html"
    invitations: ClassVar[type[InvitationLink]]

    def describe(self, invitation: Any) -> dict[str, Any]:
        """Return what the page says besides about one of ``invitations``."""
        return {}

    def accept(self, token: str) -> HttpResponse:
        """Use the link, say so, and return the way to what it gave."""
        raise NotImplementedError

    def get(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        invitation = find_link(self.invitations, kwargs["token"])
        context = self.describe(invitation) if invitation else {}
        status = 200 if invitation else 404
        response = self.show(status=status, title=_("Invitation"), invitation=invitation, **context)
        response["Referrer-Policy"] = "no-referrer"
        return response

    def post(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        with refusals_shown(request):
            return self.accept(kwargs["token"])
        return redirect(request.path)
