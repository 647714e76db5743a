"""A backup of the embedded database can be put in its place."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command
from django.db import connection

from annotation.models import SocialGroup
from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
#: Prints what opens something: sessions, one of them over, and the links of people.
MAKE_SECRETS = """
from django.contrib.sessions.backends.db import SessionStore
from django.test import Client
from annotation.models import Annotator
from tests.annotation.counterparts.studies import make_writing_study
from annotation.studies.colleagues import invite_colleague
from stereoscope.api_authentication import create_token
from tests.annotation.studies.people import make_study, make_submission, make_user

def session():
    store = SessionStore()
    store["x"] = 1
    store.create()
    return store

over, kept = session(), session()
gone = over.session_key
over.delete()
submission = make_submission(make_study())
submission.holder_key = "holder" * 5
submission.save()
place = Annotator.objects.create(study=make_writing_study(launched=False), number=77)
owner = make_user("carol")
_, invitation = invite_colleague(study=submission.study, role="viewer", invited_by=owner)
_, key = create_token(user=owner, name="export")
browser = Client(SERVER_NAME="localhost")
browser.force_login(owner)
assert browser.get("/admin/").status_code == 200
print(gone, kept.session_key, submission.token, submission.holder_key, place.invitation_token)
print(invitation, key, browser.cookies["sessionid"].value)
"""

OPEN = """
from django.test import Client

browser = Client(SERVER_NAME="localhost")
browser.cookies["sessionid"] = {session!r}
assert browser.get("/admin/").status_code == 302
for digest in {digests!r}:
    header = {{"Authorization": f"Token {{digest}}"}}
    assert browser.get("/api/v1/studies/", headers=header).status_code == 401
    browser.cookies["sessionid"] = digest[:32]
    assert browser.get("/admin/").status_code == 302
"""


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    environment = {
        **os.environ,
        "VAR_DIR": str(folder),
        "DATABASE_URL": f"sqlite:///{folder / 'stereoscope.sqlite3'}",
    }
    return subprocess.Popen(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def end(process: subprocess.Popen[str]) -> str:
    """Wait until a command has done its work; return what it complained of."""
    _said, complaints = process.communicate()
    assert process.returncode == 0, complaints
    return complaints


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


def test_a_backup_that_was_killed_does_not_stand_in_the_way_of_the_next(tmp_path, make_database):
    folder, copy = tmp_path / "var", tmp_path / "monday.sqlite3"
    make_database(folder / "stereoscope.sqlite3")
    # The system had written some of its pages, in another order than they stand in.
    half = copy.with_name(f"{copy.name}.part")
    half.write_bytes(bytes(4096) + (folder / "stereoscope.sqlite3").read_bytes()[4096:8192])
    end(start(folder, "backup", str(copy)))
    assert read_name(copy)
    assert not half.exists()


def test_a_backup_restores_what_was_there(tmp_path, make_database):
    folder, copy = tmp_path / "var", tmp_path / "backups" / "monday.sqlite3"
    database = folder / "stereoscope.sqlite3"
    make_database(database)
    # As they were made by an earlier version, which left that to the account.
    folder.chmod(0o755)
    database.chmod(0o644)
    rename_group(database, "before")
    with closing(sqlite3.connect(database)) as busy:
        # Somebody writes meanwhile; what is not committed is not in the copy.
        busy.execute("BEGIN IMMEDIATE")
        busy.execute("UPDATE annotation_socialgroup SET plural = 'half'")
        backup = start(folder, "backup", str(copy))
        wait_until(lambda: copy.exists() or backup.poll() is not None)
        busy.rollback()
    assert not end(backup)
    assert not list(copy.parent.glob("*.part"))
    # Nobody else on the machine reads it.
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(copy.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    rename_group(database, "after")

    # As docs/deployment.md says.
    for name in ("stereoscope.sqlite3-wal", "stereoscope.sqlite3-shm"):
        (folder / name).unlink(missing_ok=True)
    database.write_bytes(copy.read_bytes())
    end(start(folder, "migrate", "--check"))
    assert read_name(database) == "before"


def test_a_copy_is_good_although_the_health_page_cannot_be_told(tmp_path, make_database):
    folder, copy = tmp_path / "var", tmp_path / "monday.sqlite3"
    make_database(folder / "stereoscope.sqlite3")
    with closing(sqlite3.connect(folder / "stereoscope.sqlite3")) as opened:
        opened.execute("DROP TABLE stereoscope_milestone")
        opened.commit()
    assert "The health page will not know" in end(start(folder, "backup", str(copy)))
    assert read_name(copy)


def test_a_backup_overwrites_nothing(tmp_path):
    copy = tmp_path / "taken.sqlite3"
    copy.write_text("something else")
    refused = start(tmp_path / "var", "backup", str(copy))
    _said, complaints = refused.communicate()
    assert refused.returncode == 1
    assert "exists" in complaints
    assert copy.read_text() == "something else"


@pytest.mark.services
@pytest.mark.django_db(transaction=True)
def test_a_dump_of_postgresql_restores_what_was_there(tmp_path):
    if connection.vendor != "postgresql":
        pytest.skip(
            "the suite runs on SQLite here; `make test-all` runs this once more on PostgreSQL"
        )
    SocialGroup.objects.create(
        slug="of-the-dump", singular="one", plural="before", plural_capitalised="Before"
    )
    dump = tmp_path / "backups" / "monday.dump"
    call_command("backup", str(dump))
    assert stat.S_IMODE(dump.stat().st_mode) == 0o600
    SocialGroup.objects.filter(slug="of-the-dump").update(plural="after")

    settings = connection.settings_dict
    restored = f"{settings['NAME']}_restored"
    address = {
        "host": settings["HOST"] or None,
        "port": settings["PORT"] or None,
        "user": settings["USER"] or None,
        "password": settings["PASSWORD"] or None,
    }
    given = {name: str(value) for name, value in address.items() if value}
    with psycopg.connect(dbname="postgres", autocommit=True, **given) as server:
        server.execute(f'DROP DATABASE IF EXISTS "{restored}"')
        server.execute(f'CREATE DATABASE "{restored}"')
        try:
            place = [f"--{name}={given[name]}" for name in ("host", "port") if name in given]
            user = [f"--username={given['user']}"] if "user" in given else []
            subprocess.run(
                ["pg_restore", "--no-owner", f"--dbname={restored}", *place, *user, str(dump)],
                env={**os.environ, "PGPASSWORD": given.get("password", "")},
                check=True,
            )
            with psycopg.connect(dbname=restored, **given) as opened:
                query = "SELECT plural FROM annotation_socialgroup WHERE slug = 'of-the-dump'"
                assert opened.execute(query).fetchall() == [("before",)]
        finally:
            server.execute(f'DROP DATABASE "{restored}"')


def test_a_backup_holds_no_session_and_no_token_of_a_link(tmp_path, make_database):
    folder, copy = tmp_path / "var", tmp_path / "monday.sqlite3"
    make_database(folder / "stereoscope.sqlite3")
    made = start(folder, "shell", "--no-imports", "--command", MAKE_SECRETS)
    said, complaints = made.communicate()
    assert made.returncode == 0, complaints
    secrets = said.split()[-8:]
    assert len(set(secrets)) == 8
    end(start(folder, "backup", str(copy)))
    content = copy.read_bytes()
    assert [secret for secret in secrets if secret.encode() in content] == []

    # Put in its place, it signs nobody in: neither who was, nor by what it holds.
    restored = tmp_path / "restored"
    restored.mkdir()
    (restored / "stereoscope.sqlite3").write_bytes(content)
    with closing(sqlite3.connect(copy)) as opened:
        tables = ("stereoscope_apitoken", "annotation_studyinvitation")
        held = [opened.execute(f"SELECT digest FROM {one}").fetchone()[0] for one in tables]  # noqa: S608
    program = OPEN.format(session=secrets[-1], digests=held)
    _said, complaints = (tried := start(restored, "shell", "--command", program)).communicate()
    assert tried.returncode == 0, complaints
