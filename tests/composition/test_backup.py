"""A backup of the embedded database can be put in its place."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

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


@pytest.fixture
def installation(tmp_path) -> Path:
    """A database file of its own with the library in it."""
    folder = tmp_path / "var"
    done = manage(folder, "migrate", "--verbosity", "0")
    assert done.returncode == 0, done.stderr
    return folder


def add_group(folder: Path, slug: str) -> None:
    program = (
        "from annotation.models import SocialGroup as G; "
        f"G.objects.create(slug='{slug}', singular='s', plural='p', plural_capitalised='P')"
    )
    done = manage(folder, "shell", "--command", program)
    assert done.returncode == 0, done.stderr


def read_slugs(database: Path) -> set[str]:
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as opened:
        assert opened.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return {slug for (slug,) in opened.execute("SELECT slug FROM annotation_socialgroup")}


def test_a_backup_restores_what_was_there(installation, tmp_path):
    copy = tmp_path / "backups" / "monday.sqlite3"
    add_group(installation, "before")
    with closing(sqlite3.connect(installation / "stereoscope.sqlite3")) as busy:
        # Somebody writes meanwhile; what is not committed is not in the copy.
        busy.execute("PRAGMA journal_mode=WAL")
        busy.execute("BEGIN IMMEDIATE")
        busy.execute("UPDATE annotation_socialgroup SET slug = 'half' WHERE slug = 'before'")
        done = manage(installation, "backup", str(copy))
        assert done.returncode == 0, done.stderr
        busy.rollback()
    assert not list(copy.parent.glob("*.part"))
    add_group(installation, "after")

    for name in ("stereoscope.sqlite3", "stereoscope.sqlite3-wal", "stereoscope.sqlite3-shm"):
        (installation / name).unlink(missing_ok=True)
    (installation / "stereoscope.sqlite3").write_bytes(copy.read_bytes())
    slugs = read_slugs(installation / "stereoscope.sqlite3")
    assert "before" in slugs
    assert not slugs & {"after", "half"}
    add_group(installation, "later")
    assert "later" in read_slugs(installation / "stereoscope.sqlite3")


def test_a_backup_overwrites_nothing(installation, tmp_path):
    copy = tmp_path / "taken.sqlite3"
    copy.write_text("something else")
    done = manage(installation, "backup", str(copy))
    assert done.returncode == 1
    assert "exists" in done.stderr
    assert copy.read_text() == "something else"
