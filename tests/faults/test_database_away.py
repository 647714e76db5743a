"""While the database is away or locked people are asked to wait; nothing they sent is lost."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import psycopg
import pytest
from django.db import InterfaceError, OperationalError, connection
from django.test import Client, override_settings
from django.urls import path

from annotation.models import Study
from stereoscope import urls
from stereoscope.failures import is_database_away
from tests.annotation.survey.conftest import make_study  # noqa: F401
from tests.annotation.survey.pages import read_page
from tests.conftest import ROOT
from tests.ports import free_port
from tests.web_server import HOST, describe_environment, run_web_server
from tools.faults.processes import Process
from tools.faults.services import find_missing, make_postgres
from tools.load.pages import read_page as read_form

SPANISH = {"Accept-Language": "es"}
WAIT = "A short interruption"
PANEL_IDS = urlencode({"PROLIFIC_PID": "5f" * 12, "STUDY_ID": "a1" * 12, "SESSION_ID": "b2" * 12})
MAKE_STUDY = (
    "import django; django.setup()\n"
    "from tools.load.studies import make_survey\n"
    "print(make_survey('One that goes on').get_absolute_url())"
)


class Answer(NamedTuple):
    status: int
    text: str
    headers: dict[str, str]


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def ask(address: str, form: dict[str, str] | None = None, **headers: str) -> Answer:
    body = urlencode(form).encode() if form is not None else None
    request = urllib.request.Request(address, data=body, headers=headers)
    try:
        with urllib.request.build_opener(NoRedirect).open(request, timeout=60) as answer:
            return Answer(answer.status, answer.read().decode(), dict(answer.headers))
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.read().decode(), dict(error.headers))


class Site(NamedTuple):
    address: str
    study: str
    database: Process
    url: str
    log: Path


@pytest.fixture
def postgres_site(tmp_path: Path) -> Iterator[Site]:
    """A web server on a PostgreSQL of its own, with a study."""
    if find_missing(["postgres"]):
        pytest.skip("PostgreSQL is not installed: its death is NOT tested")
    port = free_port()
    # Its own account cannot look into the folders of the tests.
    folder = tempfile.TemporaryDirectory(prefix="stereoscope-away-")
    database = make_postgres(Path(folder.name) / "postgres", port)
    url = f"postgres://postgres@{HOST}:{port}/postgres"
    environment = describe_environment(url, tmp_path)
    try:
        database.start()
        for command in (["manage.py", "migrate", "--verbosity", "0"], ["-c", MAKE_STUDY]):
            said = subprocess.run(
                [sys.executable, *command],
                cwd=ROOT, env=environment, check=True, text=True, stdout=subprocess.PIPE,
            ).stdout  # fmt: skip
        with run_web_server(url, tmp_path) as web:
            yield Site(f"http://{HOST}:{web}", said.strip(), database, url, tmp_path / "web.log")
    finally:
        database.kill()
        folder.cleanup()


def count_submissions(url: str) -> int:
    with psycopg.connect(url.replace("postgres://", "postgresql://")) as link:
        row = link.execute("SELECT count(*) FROM annotation_submission").fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.slow
def test_a_killed_postgresql_is_told_as_a_pause_and_the_same_page_is_taken_afterwards(
    postgres_site: Site,
) -> None:
    site = postgres_site
    link = f"{site.address}{site.study}?{PANEL_IDS}"
    landing = read_form(ask(link).text)
    assert landing.action, "the page that asks whether to start"
    site.database.kill()
    looked, sent = ask(link, **SPANISH), ask(site.address + landing.action, landing.hidden)
    for answer in (looked, sent):
        assert answer.status == 503
        assert answer.headers["Retry-After"] == "10"
        assert "no-store" in answer.headers["Cache-Control"]
        policy = answer.headers["Content-Security-Policy"]
        assert "script-src 'self'" in policy.split("; ")
        assert "Traceback" not in answer.text
    assert 'lang="es"' in looked.text
    assert "Una breve interrupción" in looked.text
    assert "is not stored yet" in sent.text
    program = ask(f"{site.address}/api/v1/studies/", Authorization="Token st_of-a-program")
    assert program.status == 503
    assert program.headers["Content-Type"].startswith("application/problem+json")
    assert program.headers["Retry-After"] == "10"
    assert json.loads(program.text)["status"] == 503
    signed_in = ask(f"{site.address}/admin/", Cookie="sessionid=some-session-of-somebody")
    assert signed_in.status == 503
    log = site.log.read_text()
    assert log.count("the database does not answer:") == 4, "one line each"
    assert "Traceback" not in log

    site.database.start()
    taken = ask(site.address + landing.action, landing.hidden)
    assert taken.status == 302, "what was sent is sent again as it is"
    assert count_submissions(site.url) == 1


@pytest.mark.django_db(transaction=True)
def test_a_locked_sqlite_is_told_as_a_pause(
    shared_database: str,
    make_study: Callable[..., Study],  # noqa: F811
) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("SQLite alone is locked as a whole")
    study: Study = make_study()
    client = Client(raise_request_exception=False)
    form = read_form(client.get(study.get_absolute_url()).content.decode())
    connection.close()
    patient = connection.settings_dict["OPTIONS"]
    connection.settings_dict["OPTIONS"] = patient | {"timeout": 0.2}
    with closing(sqlite3.connect(shared_database.removeprefix("sqlite:///"))) as other:
        other.execute("BEGIN IMMEDIATE")
        answer = client.post(form.action, form.hidden)
        assert answer.status_code == 503
        assert read_page(answer.content.decode()).heading == WAIT
        other.rollback()
    assert client.post(form.action, form.hidden).status_code == 302
    assert study.submissions.count() == 1


def fail_with(error: Exception) -> int:
    def fail(request: object) -> None:
        raise error

    class addresses:  # noqa: N801 - a module of addresses
        urlpatterns = [path("fails/", fail), *urls.urlpatterns]
        handler500 = urls.handler500

    with override_settings(ROOT_URLCONF=addresses):
        return Client(raise_request_exception=False).get("/fails/").status_code


def caused(error: Exception, cause: Exception | None) -> Exception:
    error.__cause__ = cause
    return error


def test_our_own_faults_stay_faults() -> None:
    with (
        closing(sqlite3.connect(":memory:")) as memory,
        pytest.raises(sqlite3.OperationalError) as found,
    ):
        memory.execute("SELECT * FROM no_such_table")
    assert fail_with(caused(OperationalError("no such table"), found.value)) == 500
    too_large = psycopg.errors.ProgramLimitExceeded("index row size")
    assert fail_with(caused(OperationalError("index row size"), too_large)) == 500
    assert fail_with(ValueError("no number")) == 500


@pytest.mark.parametrize(
    "error",
    [
        OperationalError("database is locked"),
        caused(OperationalError("no room"), psycopg.errors.DiskFull("no room")),
        caused(OperationalError("gone"), psycopg.errors.AdminShutdown("gone")),
        InterfaceError("connection already closed"),
        caused(RuntimeError("a page could not be drawn"), OperationalError("gone")),
    ],
)
def test_what_only_time_mends_is_told_as_a_pause(error: Exception) -> None:
    assert is_database_away(error)
    assert fail_with(error) == 503
