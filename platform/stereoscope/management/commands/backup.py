"""Copies the embedded database while it is in use."""

from __future__ import annotations

import sqlite3
from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection


class Command(BaseCommand):
    help = (
        "Writes a consistent copy of the SQLite database into FILE, also while web and worker "
        "run. To restore it, stop both and put the copy in the database's place."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        if connection.vendor != "sqlite":
            raise CommandError("The database is PostgreSQL: back it up with pg_dump.")
        if file.exists():
            raise CommandError(f"“{file}” exists. Name a new file.")
        part = file.with_name(file.name + ".part")
        connection.ensure_connection()
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(part)) as copy:
                connection.connection.backup(copy)
                # A copy of its own, not one that waits for a log beside it.
                copy.execute("PRAGMA journal_mode=DELETE")
            part.replace(file)
        except (OSError, sqlite3.Error) as error:
            raise CommandError(f"“{file}” could not be written: {error}.") from error
        finally:
            part.unlink(missing_ok=True)
        self.stdout.write(f"The database was copied to {file} ({file.stat().st_size:,} bytes).")
