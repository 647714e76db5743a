"""Links that work once, for some days: made, found again by their secret, used."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any, TypeVar

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.models.colleague import InvitationLink
from annotation.models.study import is_active_staff
from annotation.models.tokens import new_token

OPEN_DAYS = 7
Link = TypeVar("Link", bound=InvitationLink)


def make_link(model: type[Link], *, created_by: User, **given: Any) -> tuple[Link, str]:
    """Return an invitation and the secret of its link, which nobody can read again."""
    token = new_token()
    link = model._default_manager.create(
        digest=digest_of(token),
        created_by=created_by,
        expires_at=timezone.now() + timedelta(days=OPEN_DAYS),
        **given,
    )
    return link, token


def open_links(model: type[Link]) -> QuerySet[Link]:
    """Return the invitations that nobody has used and that are not too old."""
    return model._default_manager.filter(used_at=None, expires_at__gt=timezone.now())


def find_link(model: type[Link], token: str) -> Link | None:
    """Return the invitation of a link that is open and whose maker may still invite."""
    link = open_links(model).filter(digest=digest_of(token)).first()
    return link if link is not None and link.may_still_invite() else None


def use_link(model: type[Link], *, token: str, user: User) -> Link:
    """Return the invitation of a link, used up by ``user``; inside a transaction.

    Raises `ValidationError` where the link does not hold, or the account is no researcher's.
    """
    if not is_active_staff(user):
        raise ValidationError(_("This account is not a researcher’s."))
    link = open_links(model).select_for_update().filter(digest=digest_of(token)).first()
    if link is None or not link.may_still_invite():
        raise ValidationError(_("This link was used, taken back or is too old. Ask for a new one."))
    link.used_by, link.used_at = user, timezone.now()
    link.save(update_fields=["used_by", "used_at"])
    return link


def digest_of(token: str) -> str:
    """Return the SHA-256 of a link's secret; it is random, so that it needs no salt."""
    return hashlib.sha256(token.encode()).hexdigest()
