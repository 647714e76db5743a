"""The study that holds what was collected elsewhere."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import AbstractBaseUser, User
from django.utils import timezone

from annotation.models import Origin, Study, StudyStatus


def store_closed_study(
    *, title: str, owner: AbstractBaseUser | None, source: str, **fields: Any
) -> Study:
    """Store a closed study with the origin “imported”. Raises `ValidationError`.

    owner : who imports; anybody who has no account here, such as a command, owns nothing
    """
    study = Study(
        title=title,
        owner=owner if isinstance(owner, User) else None,
        origin=Origin.IMPORTED,
        status=StudyStatus.CLOSED,
        source=source,
        reward_cents=0,
        completion_codes={},
        closed_at=timezone.now(),
        **fields,
    )
    # Nobody works in an imported study, is paid through it, or reads a contact on its pages.
    # The database holds what the same rows must not do twice; callers name the study that has them.
    study.full_clean(exclude=["completion_codes", "contact_email"], validate_constraints=False)
    study.save()
    return study
