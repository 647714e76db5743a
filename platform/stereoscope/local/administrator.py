"""The administrator of a local installation, with a password that was generated once."""

from __future__ import annotations

import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction

NAME = "admin"
# Twelve bytes: 96 bits, in 16 letters that can be typed.
PASSWORD_BYTES = 12


@dataclass(frozen=True)
class Administrator:
    """``password`` is None where it is not the generated one: somebody has chosen their own."""

    user: User
    password: str | None


@transaction.atomic
def ensure_administrator(*, password_file: Path) -> Administrator:
    """Return the administrator, created on the first call; an account that exists is not changed.

    The generated password stays in ``password_file``, readable by its owner alone. Where the file
    is lost, ``manage.py changepassword admin`` sets a new one.
    """
    user = User.objects.filter(username=NAME).first()
    if user is None:
        password = secrets.token_urlsafe(PASSWORD_BYTES)
        user = User.objects.create_superuser(NAME, password=password)
        password_file.unlink(missing_ok=True)  # of a database that is gone
        write_private(password_file, password)
        return Administrator(user, password)
    if not password_file.exists():
        return Administrator(user, None)
    password = password_file.read_text().strip()
    return Administrator(user, password if user.check_password(password) else None)


def write_private(path: Path, text: str) -> None:
    """Write ``text`` into a new file that only its owner can read."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as handle:
        handle.write(text + "\n")
