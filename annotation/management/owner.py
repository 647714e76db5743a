"""Whom something that a command makes belongs to."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.core.management.base import CommandError


def find_owner(name: str | None) -> User | None:
    """Return the user of that name, None without a name; `CommandError` for an unknown one."""
    owner = User.objects.filter(username=name).first() if name else None
    if name and owner is None:
        raise CommandError(f"No user is called “{name}”.")
    return owner
