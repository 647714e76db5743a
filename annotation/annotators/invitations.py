"""Invites annotators: a place with a number, and a link by which an account takes it."""

from __future__ import annotations

import logging
import smtplib
from datetime import timedelta

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, User
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Max
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from annotation.annotators.errors import (
    InvitationNotSent,
    LinkNotOpen,
    LinkState,
    PlaceRefused,
)
from annotation.annotators.queue import WORK
from annotation.models import Annotator, Study, StudyStatus
from annotation.models.tokens import new_token

logger = logging.getLogger(__name__)

OPEN_DAYS = 30  # how long an invitation can be accepted
OVER = {StudyStatus.CLOSED, StudyStatus.ARCHIVED}


def build_join_link(annotator: Annotator) -> str:
    """Return the full address that takes the place: whoever has it can take it."""
    return settings.SITE_URL + reverse("annotators:join", args=[annotator.invitation_token])


def is_expired(annotator: Annotator) -> bool:
    return timezone.now() > annotator.invited_at + timedelta(days=OPEN_DAYS)


def can_send_mail() -> bool:
    """Whether the installation names a mail server."""
    return bool(settings.EMAIL_HOST)


@transaction.atomic
def invite_annotator(*, study: Study, email: str = "") -> Annotator:
    """Create the next place of ``study``, for an address or for a link that is handed over.

    Numbers are never given twice, so that “Annotator 3” stays the same person in every export.
    Raises `ValidationError` for a study of another kind or one that is over, and for an address
    that is wrong or already invited.
    """
    study = Study.objects.select_for_update().get(pk=study.pk)
    if study.kind not in WORK:
        raise ValidationError(_("This study has participants, not annotators."))
    if study.status in OVER:
        raise ValidationError(
            _("The study is %(status)s: nobody can be invited.")
            % {"status": study.get_status_display().lower()}
        )
    email = email.strip()
    if email:
        _check_address(study, email)
    last = study.annotators.aggregate(last=Max("number"))["last"] or 0
    annotator = Annotator(study=study, number=last + 1, email=email)
    annotator.full_clean()
    annotator.save()
    return annotator


def send_invitation(*, annotator: Annotator) -> None:
    """Send the link by mail. Called after the transaction: a slow server must lock no row.

    Raises `InvitationNotSent`; the log says that it failed, never to whom.
    """
    if not annotator.email:
        raise InvitationNotSent(_("No address is known: hand the link over."))
    if not can_send_mail():
        raise InvitationNotSent(_("No mail server is set up here: hand the link over."))
    study = annotator.study
    message = EmailMessage(
        subject=_("Invitation: %(study)s") % {"study": " ".join(study.title.split())},
        body=_write_body(annotator),
        to=[annotator.email],
        reply_to=[study.contact_email],
    )
    try:
        message.send()
    except (OSError, smtplib.SMTPException) as error:
        # The error's own words name the address.
        logger.warning("An invitation was not sent: %s", type(error).__name__)
        raise InvitationNotSent(
            _("The mail server did not take the invitation: hand the link over, or try again.")
        ) from None


@transaction.atomic
def renew_invitation(*, annotator: Annotator) -> Annotator:
    """Give a place that nobody has taken a new link; the old one leads nowhere from now on."""
    annotator = Annotator.objects.select_for_update().get(pk=annotator.pk)
    if annotator.removed_at is not None:
        raise ValidationError(_("%(who)s was removed.") % {"who": annotator})
    if annotator.user_id is not None:
        raise ValidationError(_("%(who)s has joined already.") % {"who": annotator})
    annotator.invitation_token = new_token()
    annotator.invited_at = timezone.now()
    annotator.save(update_fields=["invitation_token", "invited_at"])
    return annotator


@transaction.atomic
def remove_annotator(*, annotator: Annotator) -> Annotator:
    """End a place: from now on no work and no access. What was done stays in the study.

    Removing twice changes nothing. Open tasks are not touched here: whoever gives tasks moves them.
    """
    annotator = Annotator.objects.select_for_update().get(pk=annotator.pk)
    if annotator.removed_at is None:
        annotator.removed_at = timezone.now()
        annotator.save(update_fields=["removed_at"])
    return annotator


def find_link_state(annotator: Annotator | None) -> LinkState:
    """Return what an invitation link leads to; None stands for a token that nobody has."""
    if annotator is None:
        return LinkState.UNKNOWN
    if annotator.removed_at is not None:
        return LinkState.REMOVED
    if annotator.user_id is not None:
        return LinkState.USED
    if annotator.study.status in OVER:
        return LinkState.OVER
    return LinkState.EXPIRED if is_expired(annotator) else LinkState.OPEN


def find_invited(token: str) -> Annotator | None:
    """Return the place behind a link, whatever became of it. One query."""
    return Annotator.objects.select_related("study").filter(invitation_token=token).first()


@transaction.atomic
def accept_invitation(*, token: str, user: AbstractBaseUser) -> Annotator:
    """Give the place to ``user``. The same account may send it twice.

    Raises `LinkNotOpen` where the link leads nowhere, `PlaceRefused` where this account cannot take
    it: it has a place in the study already, or sees the study as its researcher.
    """
    annotator = (
        Annotator.objects.select_for_update(of=("self",))
        .select_related("study")
        .filter(invitation_token=token)
        .first()
    )
    if annotator is not None and annotator.user_id == user.pk and annotator.removed_at is None:
        return annotator
    state = find_link_state(annotator)
    if annotator is None or state != LinkState.OPEN:
        raise LinkNotOpen(state)
    if annotator.study.is_visible_to(user):
        raise PlaceRefused(
            _(
                "This account manages the study and sees what its annotators must not see. Log "
                "out and choose an account of your own for the work."
            )
        )
    other = Annotator.objects.filter(study=annotator.study, user=user.pk).first()
    if other is not None:
        raise PlaceRefused(
            _("This account has a place in the study already, as %(who)s.") % {"who": other}
        )
    annotator.user_id = user.pk
    annotator.accepted_at = timezone.now()
    annotator.save(update_fields=["user", "accepted_at"])
    return annotator


@transaction.atomic
def join_with_new_account(*, token: str, username: str, password: str) -> tuple[Annotator, User]:
    """Create an account without any right and give the place to it; both or neither.

    The form has checked name and password. Raises as `accept_invitation` does.
    """
    user = get_user_model().objects.create_user(username=username, password=password)
    return accept_invitation(token=token, user=user), user


def _check_address(study: Study, email: str) -> None:
    try:
        validate_email(email)
    except ValidationError:
        raise ValidationError(
            _("“%(email)s” is no e-mail address, expected one such as name@example.org.")
            % {"email": email}
        ) from None
    there = study.annotators.filter(email__iexact=email, removed_at__isnull=True).first()
    if there is not None:
        raise ValidationError(
            _("“%(email)s” is invited already, as %(who)s.") % {"email": email, "who": there}
        )


def _write_body(annotator: Annotator) -> str:
    days = ngettext("%(n)d day", "%(n)d days", OPEN_DAYS) % {"n": OPEN_DAYS}
    return _(
        "You are invited to work as an annotator in the study “%(study)s”.\n\n"
        "Open this link, choose a user name and a password, and begin:\n\n%(link)s\n\n"
        "The link is yours alone and works for %(days)s. In the study you appear as "
        "“%(who)s”; results never name you.\n\n"
        "Questions: %(contact)s"
    ) % {
        "study": annotator.study.title,
        "link": build_join_link(annotator),
        "days": days,
        "who": annotator,
        "contact": annotator.study.contact_email,
    }
