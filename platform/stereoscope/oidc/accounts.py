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


def find_account(claims: Mapping[str, Any]) -> User | None:
    """Return the active account that is connected to verified claims, None without one.

    The issuer and its own id of the person alone count. Names and addresses that a provider sends
    are chosen or given to others.
    """
    found = ExternalLogin.objects.select_related("user").filter(**_identify(claims)).first()
    return found.user if found is not None and found.user.is_active else None


@transaction.atomic
def connect_account(*, user: User, claims: Mapping[str, Any]) -> bool:
    """Let the person of verified claims sign in to ``user`` from now on, instead of another.

    Returns False, and changes nothing, if they are connected to another account.
    """
    identity = _identify(claims)
    if ExternalLogin.objects.filter(**identity).exclude(user=user).exists():
        return False
    disconnect_account(user=user)
    ExternalLogin.objects.create(user=user, **identity)
    record(AuditAction.ACCESS, f"account {user}", detail="connected to its account at the provider")
    return True


@transaction.atomic
def disconnect_account(*, user: User) -> None:
    """Let nobody sign in to ``user`` at the provider."""
    if ExternalLogin.objects.filter(user=user, issuer=settings.OIDC_ISSUER).delete()[0]:
        record(AuditAction.ACCESS, f"account {user}", detail="disconnected from the provider")


def _identify(claims: Mapping[str, Any]) -> dict[str, str]:
    return {"issuer": settings.OIDC_ISSUER, "subject": str(claims["sub"])}
