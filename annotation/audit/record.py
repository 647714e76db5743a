"""Writing to the audit log."""

from __future__ import annotations

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from simple_history.models import HistoricalRecords

from annotation.audit.seals import seal_after_commit
from annotation.models import AuditAction, AuditEntry, Study


def record(
    action: AuditAction,
    target: object,
    *,
    actor: AbstractBaseUser | AnonymousUser | None = None,
    study: Study | int | None = None,
    detail: str = "",
) -> AuditEntry:
    """Add one entry; without ``actor`` it is whose request this is, or the platform. One query.

    It is sealed after the transaction, with four more.

    ``target`` and ``detail`` hold no id and no answer of a participant.
    """
    account = actor or find_actor()
    entry = AuditEntry.objects.create(
        action=action,
        actor=account.get_username() if account and account.is_authenticated else "",
        study_id=study.pk if isinstance(study, Study) else study,
        target=str(target)[:120],
        detail=detail[:300],
    )
    seal_after_commit()
    return entry


def find_actor() -> User | None:
    """Return whose request is being answered; None in a command or a worker."""
    request = getattr(HistoricalRecords.context, "request", None)
    user = getattr(request, "user", None)
    return user if isinstance(user, User) else None
