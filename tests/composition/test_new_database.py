"""A new database is made in one step, and is as the single migrations leave an old one."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# What an installation of some time ago has applied, one migration after the other.
OLD_STATE = """
import django

django.setup()
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

executor = MigrationExecutor(connection)
executor.loader.replace_migrations = False
executor.loader.build_graph()
executor.migrate(
    [("annotation", "0028_audit_never_deleted"), ("probing", "0009_labelled_texts")]
    + [("evaluation", "0005_drop_old_run")]
)
"""


def read_tables(file: Path) -> dict[tuple[str, str], list[str]]:
    """Return each table's columns and constraints, in any order, and each index and trigger."""
    with closing(sqlite3.connect(file)) as database:
        rows = database.execute("SELECT type, name, sql FROM sqlite_master WHERE sql NOT NULL")
        return {(kind, name): split_lines(sql) for kind, name, sql in rows}


def split_lines(sql: str) -> list[str]:
    """Split at the commas that stand in no brackets but the outermost."""
    lines, depth = [""], 0
    for sign in sql:
        depth += {"(": 1, ")": -1}.get(sign, 0)
        if (sign == "," and depth == 1) or (sign in "()" and depth == (sign == "(")):
            lines.append("")
        else:
            lines[-1] += sign
    return sorted(line.strip() for line in lines)


@pytest.mark.slow
def test_an_old_database_comes_to_the_same_tables(make_database, tmp_path: Path):
    new, old = tmp_path / "new.sqlite3", tmp_path / "old.sqlite3"
    make_database(new)
    settings = {"DATABASE_URL": f"sqlite:///{old}", "VAR_DIR": str(tmp_path)}
    environment = {**os.environ, **settings, "DJANGO_SETTINGS_MODULE": "stereoscope.settings"}
    for command in (["-c", OLD_STATE], ["manage.py", "migrate", "--verbosity", "0"]):
        subprocess.run([sys.executable, *command], cwd=ROOT, env=environment, check=True)
    tables = read_tables(new)
    assert len(tables) > 300
    assert ("trigger", "audit_entries_remain") in tables
    assert read_tables(old) == tables
