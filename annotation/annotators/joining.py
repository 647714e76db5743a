"""Takes a place: with a new account, or with one that is there already."""

from __future__ import annotations

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.annotators.errors import LinkNotOpen, LinkState, PlaceRefused
from annotation.annotators.inviting import OVER, is_expired
from annotation.models import Annotator
from annotation.studies.access import can_see_study


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
    if can_see_study(user, annotator.study):
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
