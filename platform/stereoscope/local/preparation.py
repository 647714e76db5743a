"""What `make run` needs before anything can start: database, static files, administrator, demo."""

from __future__ import annotations

import hashlib
import os
import secrets
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import django
from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.staticfiles.finders import get_finders
from django.core.management import CommandError, call_command
from django.db import transaction
from django.urls import reverse

from stereoscope.local.processes import stop_with_parent

if TYPE_CHECKING:  # the process that prepares imports this module before it sets Django up
    from django.contrib.auth.models import User

# --- The administrator of a local installation, with a password that was generated once

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
    users = get_user_model().objects
    user = users.filter(username=NAME).first()
    if user is None:
        password = secrets.token_urlsafe(PASSWORD_BYTES)
        user = users.create_superuser(NAME, password=password)
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


# --- Collects static files, but only when one of them has changed


def collect_static_files() -> bool:
    """Bring `STATIC_ROOT` up to date; return whether there was anything to do."""
    stamp = Path(settings.STATIC_ROOT) / ".sources-sha256"
    wanted = _hash_sources()
    if stamp.exists() and stamp.read_text() == wanted:
        return False
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_text(wanted)
    return True


def _hash_sources() -> str:
    """Return a hash of the names, sizes and times of all static files."""
    digest = hashlib.sha256(settings.STORAGES["staticfiles"]["BACKEND"].encode())
    for finder in get_finders():
        for name, storage in finder.list([]):
            facts = Path(storage.path(name)).stat()
            digest.update(f"{name}\t{facts.st_size}\t{facts.st_mtime_ns}\n".encode())
    return digest.hexdigest()


# --- Preparation


def prepare_apart(*, site: str, model: str) -> str:
    """Prepare everything in a process that ends; return what to say once the platform runs.

    Training the demo model loads libraries of hundreds of megabytes, which the launcher would hold
    for as long as it runs. Raises `CommandError` where there can be no demo.
    """
    with ProcessPoolExecutor(
        max_workers=1, mp_context=get_context("spawn"), initializer=_begin
    ) as apart:
        return apart.submit(_prepare, site, model).result()


def _begin() -> None:
    stop_with_parent()
    django.setup()


def _prepare(site: str, model: str) -> str:
    # Loaded in the process that ends, never in the launcher.
    from stereoscope.demo.seeding import DemoError, seed_demo
    from stereoscope.documentation.site import build_documentation

    say("Preparing the database.")
    call_command("migrate", interactive=False, verbosity=0, skip_checks=False)
    if settings.STATIC_MANIFEST and collect_static_files():
        say("Static files collected.")
    if build_documentation(settings.DOCS_ROOT):
        say("Documentation built.")
    administrator = ensure_administrator(password_file=settings.VAR_DIR / "admin-password")
    try:
        demo = seed_demo(owner=administrator.user, location=model, say=say)
    except DemoError as error:
        raise CommandError(str(error)) from error
    run = f"{demo.run} of {demo.run.model.name}"
    return f"""
Stereoscope is running.

  Participants  {site}{demo.survey.get_absolute_url()}
                {site}{demo.speakers.get_absolute_url()}
  Researchers   {site}{reverse("admin:index")}
  Report        {site}{reverse("reports:page", args=[demo.report.public_id])}
  API           {site}{reverse("api-docs")}
  Help          {site}{reverse("docs")}

  User          {NAME}
  Password      {administrator.password or "the one that was chosen for this account"}

  {
        f"{run} fills the report; the worker computes it now."
        if demo.report.built_at is None
        else f"The report is about {run}."
    }
  Logs are in {settings.VAR_DIR / "log"}. Ctrl-C stops everything.
"""


def say(line: str) -> None:
    """Print a line on the terminal at once, whatever process says it."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
