"""Copies the database while it is in use."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.template.defaultfilters import filesizeformat

from stereoscope.models import Milestone, MilestoneName

#: Who holds one of its keys is signed in.
SESSIONS = "django_session"


class Command(BaseCommand):
    help = (
        "Writes a consistent copy of the database into FILE, also while web and worker run: a "
        "SQLite database, or a dump of PostgreSQL for pg_restore. The key under which ids of "
        "people and tokens of links are encrypted (IDENTITY_KEYS) is not in it: keep it elsewhere. "
        "Sessions are left out: after a restore, accounts sign in anew."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        if file.exists():
            raise CommandError(f"“{file}” exists. Name a new file.")
        part = file.with_name(file.name + ".part")
        copy = _copy_sqlite if connection.vendor == "sqlite" else _dump_postgresql
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _clear(part)  # of a backup that was killed
            part.touch(mode=0o600)
            copy(part)
            part.replace(file)
        except (OSError, sqlite3.Error) as error:
            raise CommandError(f"“{file}” could not be written: {error}.") from error
        finally:
            _clear(part)
        self._note(file.stat().st_size)
        self.stdout.write(f"The database was copied to {file} ({file.stat().st_size:,} bytes).")

    def _note(self, size: int) -> None:
        """Let the health page know. A copy is good, too, of a database that lacks this table."""
        try:
            Milestone.note(MilestoneName.BACKUP, filesizeformat(size))
        except DatabaseError as error:
            self.stderr.write(f"The health page will not know of it: {error}.")


def _clear(part: Path) -> None:
    """Delete what is half written, with the journals that SQLite keeps beside it."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        part.with_name(part.name + suffix).unlink(missing_ok=True)


def _copy_sqlite(part: Path) -> None:
    connection.ensure_connection()
    with closing(sqlite3.connect(part)) as copy:
        connection.connection.backup(copy)
        # A copy of its own, not one that waits for a log beside it.
        copy.execute("PRAGMA journal_mode=DELETE")
        copy.execute(f"DELETE FROM {SESSIONS}")  # noqa: S608 - our own name
        copy.commit()
        copy.execute("VACUUM")  # what was deleted, now or before, is in no page of the file


def _dump_postgresql(part: Path) -> None:
    """Run pg_dump of this machine; the password goes by the environment, not by the command."""
    settings = connection.settings_dict
    places = {"host": "HOST", "port": "PORT", "username": "USER", "dbname": "NAME"}
    given = [f"--{option}={settings[name]}" for option, name in places.items() if settings[name]]
    left_out = [f"--exclude-table-data={SESSIONS}"]
    pg_dump = shutil.which("pg_dump")
    if pg_dump is None:
        raise CommandError("pg_dump was not found: install PostgreSQL's client tools.")
    try:
        subprocess.run(  # noqa: S603 - our own settings, no shell
            [pg_dump, "--format=custom", "--no-password", f"--file={part}", *given, *left_out],
            env={**os.environ, "PGPASSWORD": str(settings["PASSWORD"])},
            check=True,
            capture_output=True,
            text=True,
        )
    except subprocess.CalledProcessError as error:
        raise CommandError(f"pg_dump failed: {error.stderr.strip()}") from error
