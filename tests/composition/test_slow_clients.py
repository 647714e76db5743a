"""The web server with clients that say nothing, or one byte at a time, over real connections."""

from __future__ import annotations

import os
import signal
import socket
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from stereoscope.buffered_worker import BufferedWorker
from tests.web_server import HOST, describe_environment
from tools.load.server import WebServer, run_web_server

N_CLIENTS = 500
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


@pytest.mark.parametrize(
    "length", [b"Content-Length: 50000000", b"Transfer-Encoding: chunked"], ids=["said", "chunked"]
)
def test_the_server_takes_no_large_body_from_anyone(web_server: WebServer, length: bytes) -> None:
    with connect(web_server.port) as client:
        client.sendall(
            b"POST /s/none/ HTTP/1.1\r\nHost: localhost\r\nCookie: sessionid=made-up\r\n"
            b"Content-Type: multipart/form-data; boundary=b\r\n" + length + b"\r\n\r\n"
        )
        if b"chunked" in length:
            for _ in range(11):
                client.sendall(b"186a0\r\n" + b"x" * 100_000 + b"\r\n")
        assert b" 413 " in client.recv(65_536).splitlines()[0]


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
