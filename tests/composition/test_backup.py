"""A backup of the embedded database can be put in its place."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def manage(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "VAR_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'stereoscope.sqlite3'}",
    }
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def rename_group(database: Path, name: str) -> None:
    statement = "UPDATE annotation_socialgroup SET plural = ? WHERE slug = 'asian'"
    with closing(sqlite3.connect(database)) as opened:
        opened.execute(statement, [name])
        opened.commit()


def read_name(database: Path) -> str:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
        assert opened.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        query = "SELECT plural FROM annotation_socialgroup WHERE slug = 'asian'"
        ((name,),) = opened.execute(query).fetchall()
        return name


def test_a_backup_restores_what_was_there(tmp_path, make_database):
    folder, copy = tmp_path / "var", tmp_path / "backups" / "monday.sqlite3"
    database = folder / "stereoscope.sqlite3"
    make_database(database)
    rename_group(database, "before")
    with closing(sqlite3.connect(database)) as busy:
        # Somebody writes meanwhile; what is not committed is not in the copy.
        busy.execute("BEGIN IMMEDIATE")
        busy.execute("UPDATE annotation_socialgroup SET plural = 'half'")
        done = manage(folder, "backup", str(copy))
        assert done.returncode == 0, done.stderr
        busy.rollback()
    assert not list(copy.parent.glob("*.part"))
    rename_group(database, "after")

    # As docs/deployment.md says.
    for name in ("stereoscope.sqlite3-wal", "stereoscope.sqlite3-shm"):
        (folder / name).unlink(missing_ok=True)
    database.write_bytes(copy.read_bytes())
    done = manage(folder, "migrate", "--check")
    assert done.returncode == 0, done.stderr
    assert read_name(database) == "before"


def test_a_backup_overwrites_nothing(tmp_path):
    copy = tmp_path / "taken.sqlite3"
    copy.write_text("something else")
    done = manage(tmp_path / "var", "backup", str(copy))
    assert done.returncode == 1
    assert "exists" in done.stderr
    assert copy.read_text() == "something else"
