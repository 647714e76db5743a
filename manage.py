#!/usr/bin/env python
"""Django's command line for Stereoscope."""

import gc
import os
import sys
from pathlib import Path


def main() -> None:
    # `platform/` is a plain folder without __init__.py: as a package it would shadow the standard
    # library's module of that name. What it holds is put on the path instead.
    sys.path.insert(1, str(Path(__file__).resolve().parent / "platform"))
    # What modules make while they load is no garbage, and searching it takes a tenth of the start.
    gc.set_threshold(100_000)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "stereoscope.settings")
    from django.core.management import execute_from_command_line
    from django.db import OperationalError, ProgrammingError
    from environs import EnvError

    try:
        execute_from_command_line(sys.argv)
    except EnvError as error:
        # One line that names the variable; docs/deployment.md has the table of all of them.
        sys.exit(f"The settings cannot be read: {error}")
    except (OperationalError, ProgrammingError):
        if not lacks_tables():
            raise
        sys.exit(
            "The database is empty or of an earlier version. Prepare it first: "
            ".venv/bin/python manage.py migrate"
        )


def lacks_tables() -> bool:
    """Return whether migrations wait to be applied; False if the database does not answer."""
    from django.db import DatabaseError, connection
    from django.db.migrations.executor import MigrationExecutor

    try:
        connection.rollback()
        executor = MigrationExecutor(connection)
        return bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError:
        return False


if __name__ == "__main__":
    main()
