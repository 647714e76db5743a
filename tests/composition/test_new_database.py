"""A database from before 1.0 goes on, or is told what it lacks."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The last migrations of before 1.0, as such a database has them recorded.
LAST = {
    "annotation": "0039_no_resume_links",
    "evaluation": "0009_report_pins_shares_drawings",
    "probing": "0014_certificates",
    "stereoscope": "0005_second_factors_at_rest",
}
COUNT = "SELECT count(*) FROM django_migrations WHERE app = 'stereoscope'"


def make_old(file: Path, make_database: Callable[[Path], None], names: dict[str, str]) -> None:
    """Make the database of an earlier build: its tables and names of its migrations."""
    make_database(file)
    rows = [(app, name) for app, last in names.items() for name in {"0001_initial", last}]
    rows = [row for row in rows if row != ("stereoscope", "0001_initial")]
    with closing(sqlite3.connect(file)) as database:
        # Later changes stay: the tables have them.
        begun = ["0001_initial", *LAST.values()]
        marks, apps = (", ".join("?" * len(names)) for names in (begun, LAST))
        database.execute(
            f"DELETE FROM django_migrations WHERE name IN ({marks}) AND app IN ({apps})",  # noqa: S608
            [*begun, *LAST],
        )
        database.executemany(
            "INSERT INTO django_migrations (app, name, applied) VALUES (?, ?, '2026-01-01')", rows
        )
        database.commit()


def migrate(file: Path) -> subprocess.CompletedProcess[str]:
    settings = {"DATABASE_URL": f"sqlite:///{file}", "VAR_DIR": str(file.parent)}
    return subprocess.run(
        [sys.executable, "manage.py", "migrate"],
        cwd=ROOT,
        env={**os.environ, **settings, "DJANGO_SETTINGS_MODULE": "stereoscope.settings"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_a_database_with_the_last_tables_goes_on(make_database, tmp_path: Path) -> None:
    file = tmp_path / "old.sqlite3"
    make_old(file, make_database, LAST)
    ended = migrate(file)
    assert (ended.returncode, "No migrations to apply" in ended.stdout) == (0, True), ended.stderr
    with closing(sqlite3.connect(file)) as database:
        assert database.execute(COUNT).fetchone() == (2,)


@pytest.mark.slow
def test_a_database_that_lacks_changes_is_told_so(make_database, tmp_path: Path) -> None:
    file = tmp_path / "old.sqlite3"
    make_old(file, make_database, {**LAST, "annotation": "0038_encrypted_links"})
    ended = migrate(file)
    assert ended.returncode == 1
    assert "lacks the migration annotation.0039_no_resume_links" in ended.stderr
    assert "Migrate it once with the last commit that has this migration" in ended.stderr
    assert "Traceback" not in ended.stderr
