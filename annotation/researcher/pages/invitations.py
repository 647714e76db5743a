"""What invitations to a study and to a team share: a link shown once, and the page it opens."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, ClassVar

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from annotation.annotators.forms import JoinForm
from annotation.models.colleague import InvitationLink
from annotation.models.study import is_active_staff
from annotation.researcher.pages.page import ResearcherPage, refusals_shown
from annotation.studies.invitation_links import find_link

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
