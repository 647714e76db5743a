"""Accounts of researchers: what each may do, the link that opens one, and how it ends."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.models import Permission, User
from django.contrib.auth.tokens import default_token_generator
from django.contrib.auth.views import PasswordResetConfirmView
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import models, transaction
from django.http import HttpResponse
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import StudyInvitation, TeamInvitation
from annotation.researcher.pages.colleagues import MODEL_BACKEND, offer_second_factor
from annotation.studies.invitation_links import open_links
from evaluation.reports.shared_views import open_shares

#: The permission that stands for all: accounts that have it can create studies.
CREATE = "annotation.add_study"
ROOMS = ("annotation", "probing", "evaluation")


class Rights(models.TextChoices):
    """The one choice that an administrator makes about a researcher's account."""

    CREATES = "creates", gettext_lazy("Can create studies")
    SHARED = "shared", gettext_lazy("Only studies shared with them")


def find_rights(user: User) -> Rights | None:
    """Return what an account may do; None for annotators, who have no researcher's account."""
    if not user.is_staff:
        return None
    return Rights.CREATES if user.has_perm(CREATE) else Rights.SHARED


@transaction.atomic
def give_rights(*, user: User, rights: Rights) -> None:
    """Make an account a researcher's with these rights, in place of those that it had."""
    if not user.is_staff:
        user.is_staff = True
        user.save(update_fields=["is_staff"])
    granted = Permission.objects.filter(content_type__app_label__in=ROOMS)
    user.groups.clear()
    user.user_permissions.set(granted if rights == Rights.CREATES else [])


@transaction.atomic
def deactivate(*, user: User, by: User) -> None:
    """End an account at once: password, sessions, API tokens, open invitations, and share links.

    What it did stays. Raises `ValidationError` for one's own account.
    """
    if user.pk == by.pk:
        raise ValidationError(_("You cannot deactivate your own account."))
    user.is_active = False
    user.set_unusable_password()  # sessions hold a digest of it: none comes back
    user.save()
    user.api_tokens.all().delete()
    for invitations in (open_links(StudyInvitation), open_links(TeamInvitation)):
        invitations.filter(created_by=user).delete()
    open_shares().filter(created_by=user).update(revoked_at=timezone.now())


@transaction.atomic
def activate(*, user: User) -> None:
    """Let an account sign in again, by a new link: it has no password."""
    user.is_active = True
    user.save()


def make_sign_in_link(user: User) -> str:
    """Return an address at which an account chooses a password and is signed in.

    It works until then, for `PASSWORD_RESET_TIMEOUT` seconds at most. Nothing of it is stored.
    """
    key = urlsafe_base64_encode(force_bytes(user.pk))
    token = default_token_generator.make_token(user)
    return f"{settings.SITE_URL}{reverse('sign-in-by-link', args=[key, token])}"


def send_sign_in_link(user: User, link: str) -> bool:
    """Send the link to the account's address, if there is one and a mail server; say whether."""
    if not (settings.EMAIL_HOST and user.email):
        return False
    days = settings.PASSWORD_RESET_TIMEOUT // 86400
    text = _(
        "You have an account on Stereoscope under the name %(name)s.\n\n"
        "Choose a password within %(days)d days: %(link)s\n"
    )
    send_mail(
        _("Your account on Stereoscope"),
        text % {"name": user.get_username(), "days": days, "link": link},
        None,
        [user.email],
    )
    return True


class NewPasswordForm(SetPasswordForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field, label in (
            ("new_password1", _("Password")),
            ("new_password2", _("Password again")),
        ):
            self.fields[field].label = label
            self.fields[field].widget.attrs["class"] = "input"
        self.fields["new_password1"].help_text = _("8 characters or more, and not a common one.")


class SignInByLink(PasswordResetConfirmView):
    """Asks for a password, stores it, and signs in; Django keeps the secret out of the address."""

    form_class = NewPasswordForm
    template_name = "stereoscope/sign_in_link.html"
    post_reset_login = True
    post_reset_login_backend = MODEL_BACKEND
    success_url = reverse_lazy("admin:index")

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        offer_second_factor(self.request)
        return response

    def form_invalid(self, form: Any) -> HttpResponse:
        response = super().form_invalid(form)
        response.status_code = 422
        return response

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        if not context["validlink"]:
            kwargs["status"] = 404
        return super().render_to_response(context, **kwargs)
