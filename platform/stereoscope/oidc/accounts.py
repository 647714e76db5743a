"""Which account here belongs to somebody who signed in at the provider."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from annotation.audit.record import record
from annotation.models import AuditAction
from stereoscope.models import ExternalLogin


@transaction.atomic
def find_account(claims: Mapping[str, Any]) -> User | None:
    """Return the active account of verified claims, None where there is none.

    The first sign-in binds the provider's id of the person to the account whose name is
    ``OIDC_ACCOUNT_CLAIM``; from then on the id alone counts, since names are given to others.
    An e-mail address counts only where the provider has verified it. No account is ever made, and
    none of an administrator is bound by its name: where people choose their names at the provider,
    somebody may choose that one. A name in other letters than the account's own binds none.
    """
    issuer, subject = settings.OIDC_ISSUER, str(claims["sub"])
    bound = (
        ExternalLogin.objects.select_related("user").filter(issuer=issuer, subject=subject).first()
    )
    if bound is not None:
        return bound.user if bound.user.is_active else None
    name = claims.get(settings.OIDC_ACCOUNT_CLAIM)
    if not name or not isinstance(name, str):
        return None
    if settings.OIDC_ACCOUNT_CLAIM == "email" and claims.get("email_verified") is not True:
        return None
    user = User.objects.filter(username=name, is_active=True).first()
    if (
        user is None
        or user.is_superuser
        or ExternalLogin.objects.filter(issuer=issuer, user=user).exists()
    ):
        return None
    ExternalLogin.objects.create(user=user, issuer=issuer, subject=subject)
    record(AuditAction.ACCESS, f"account {user}", detail="bound to its account at the provider")
    return user
