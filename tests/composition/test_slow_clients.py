"""The web server with clients that say nothing, or one byte at a time, over real connections."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from stereoscope.buffered_worker import BufferedWorker
from tests.web_server import HOST, describe_environment
from tools.load.server import WebServer, run_web_server

N_CLIENTS = 500
#: Makes an account that is signed in, and prints the key of its session.
SIGN_IN = """
import sys
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends.db import SessionStore

name = sys.stdin.read()
user = User.objects.create_user(name, is_staff=name == "staff")
session = SessionStore()
session[SESSION_KEY], session[HASH_SESSION_KEY] = user.pk, user.get_session_auth_hash()
session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
session.create()
print(session.session_key)
"""
IDLE = b""
SLOW_HEADER = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
SLOW_FORM = (
    b"POST /s/none/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\na="
)


@pytest.fixture
def web_server(
    tmp_path: Path, make_database: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> Iterator[WebServer]:
    make_database(tmp_path / "site.sqlite3")
    environment = describe_environment(f"sqlite:///{tmp_path / 'site.sqlite3'}", tmp_path)
    with run_web_server(environment, tmp_path / "web.log") as running:
        yield running


def connect(port: int) -> socket.socket:
    return socket.create_connection((HOST, port), timeout=10)


def make_session(folder: Path, name: str) -> str:
    """Return the key of a session of a new account in the database of ``web_server``."""
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", SIGN_IN],
        env=describe_environment(f"sqlite:///{folder / 'site.sqlite3'}", folder),
        input=name,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def read_answer(connection: socket.socket) -> bytes:
    parts = []
    while part := connection.recv(65_536):
        parts.append(part)
    return b"".join(parts)


@pytest.mark.parametrize("sent", [IDLE, SLOW_HEADER, SLOW_FORM])
def test_hundreds_of_slow_clients_stop_nobody(web_server: WebServer, sent: bytes) -> None:
    with ExitStack() as open_ones:
        clients = [open_ones.enter_context(connect(web_server.port)) for _ in range(N_CLIENTS)]
        for client in clients:
            client.sendall(sent)
        for _ in range(5):
            if sent:
                for client in clients:
                    client.sendall(b"x")
            began = time.monotonic()
            with urllib.request.urlopen(f"http://{HOST}:{web_server.port}/", timeout=10) as answer:
                assert answer.status == 200
            assert time.monotonic() - began < 1


def test_a_slow_form_is_answered_when_it_is_whole(web_server: WebServer) -> None:
    with connect(web_server.port) as client:
        client.sendall(SLOW_FORM.replace(b"900", b"4\r\nConnection: close"))
        time.sleep(0.5)
        client.sendall(b"bc")
        assert b" 404 " in read_answer(client).splitlines()[0]


def begin_post(
    path: str, length: int | None, *, kind: str = "application/x-www-form-urlencoded", cookie: str
) -> bytes:
    """Return the head of a request; its body has no ``length`` if it comes in chunks."""
    size = "Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}"
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Cookie: sessionid={cookie}"]
    return "\r\n".join([*lines, f"Content-Type: {kind}", size, "", ""]).encode()


PARTS = "multipart/form-data; boundary=b"


@pytest.mark.parametrize(
    ("path", "length", "kind", "status"),
    [
        ("/s/none/", 50_000_000, "application/x-www-form-urlencoded", b"413"),
        ("/admin/annotation/study/new/", 50_000_000, PARTS, b"413"),
        ("/api/v1/studies/", 50_000_000, "application/json", b"413"),
        ("/s/none/", 500, PARTS, b"415"),
        ("/annotate/login/", 500, "MULTIPART/form-data; boundary=b", b"415"),
        ("/api/v1/studies/", 500, PARTS, b"415"),
    ],
)
def test_the_server_refuses_a_body_before_it_comes(
    web_server: WebServer, path: str, length: int, kind: str, status: bytes
) -> None:
    with connect(web_server.port) as client:
        client.sendall(begin_post(path, length, kind=kind, cookie="made-up"))
        assert status in client.recv(65_536).splitlines()[0]


def test_a_body_without_a_length_is_no_longer_than_a_form(web_server: WebServer) -> None:
    with connect(web_server.port) as client:
        client.sendall(begin_post("/admin/login/", None, cookie="made-up"))
        for _ in range(11):
            client.sendall(b"186a0\r\n" + b"x" * 100_000 + b"\r\n")
        assert b" 413 " in client.recv(65_536).splitlines()[0]


def test_a_researcher_sends_a_large_file(web_server: WebServer, tmp_path: Path) -> None:
    statuses = []
    for cookie in (make_session(tmp_path, "staff"), make_session(tmp_path, "annotator")):
        with connect(web_server.port) as client:
            path = "/admin/annotation/study/new/"
            client.sendall(begin_post(path, 3_000_000, kind=PARTS, cookie=cookie))
            with suppress(OSError):  # the server may hang up
                client.sendall(b"x" * 3_000_000)
            statuses.append(client.recv(65_536).split()[1])
    assert statuses == [b"403", b"413"]  # the form itself lacks its token


def test_the_bodies_being_read_are_limited_together(web_server: WebServer) -> None:
    head = begin_post("/s/none/", 999_000, cookie="")
    with ExitStack() as open_ones:
        clients = [open_ones.enter_context(connect(web_server.port)) for _ in range(230)]
        for client in clients:
            client.sendall(head + b"a=")
        answer = clients[-1].recv(65_536)
        assert b" 503 " in answer.splitlines()[0]
        with connect(web_server.port) as participant:  # forms of a usual size go through
            participant.sendall(SLOW_FORM.replace(b"900", b"2"))
            assert b" 404 " in participant.recv(65_536).splitlines()[0]


@pytest.mark.parametrize("sent", [SLOW_HEADER, SLOW_FORM])
def test_a_request_that_takes_too_long_is_closed(
    tmp_path: Path, make_database: Callable[[Path], None], sent: bytes
) -> None:
    make_database(tmp_path / "site.sqlite3")
    environment = describe_environment(f"sqlite:///{tmp_path / 'site.sqlite3'}", tmp_path)
    environment["HEAD_SECONDS"] = "1"
    with (
        run_web_server(environment, tmp_path / "web.log") as running,
        connect(running.port) as client,
    ):
        client.sendall(sent)
        began = time.monotonic()
        with suppress(OSError):
            while time.monotonic() - began < 8:  # one byte at a time, so that it is never silent
                client.sendall(b"x")
                time.sleep(0.2)
        assert time.monotonic() - began < 5


def test_a_stopping_server_answers_what_has_arrived(web_server: WebServer) -> None:
    with ExitStack() as open_ones:
        idle = [open_ones.enter_context(connect(web_server.port)) for _ in range(20)]
        clients = [open_ones.enter_context(connect(web_server.port)) for _ in range(40)]
        urllib.request.urlopen(f"http://{HOST}:{web_server.port}/health/live").close()
        for client in clients:
            client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        os.kill(web_server.pid, signal.SIGTERM)
        assert all(b" 200 " in read_answer(client).splitlines()[0] for client in clients)
        assert all(client.recv(1) == b"" for client in idle)


def test_a_worker_that_is_stopped_before_it_listens_stops() -> None:
    worker = BufferedWorker.__new__(BufferedWorker)
    worker.handle_exit(signal.SIGTERM, None)
    assert worker.alive is False
