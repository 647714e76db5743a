"""Servers that mean harm: endless, slow, packed or senseless answers end in one line."""

from __future__ import annotations

import gzip
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx2
import pytest

from probing.lm.chat import ChatModel
from probing.lm.chat_errors import read_logprob
from probing.lm.chat_limits import ChatLimits
from probing.lm.errors import LanguageModelError, ServerError
from probing.lm.public_addresses import PublicTransport
from probing.lm.text_protocols import GenerationSettings

SETTINGS = GenerationSettings(max_new_tokens=2, temperature=0.0)
Act = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def serve(act: Act) -> Iterator[str]:
    """Run a server that answers every request by ``act``; yields its host and port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            act(self)

        do_GET = do_POST  # noqa: N815 - the library's name

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def say(body: bytes, status: int = 200, **headers: str) -> Act:
    def act(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return act


def drip(stop: threading.Event) -> Act:
    def act(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        while not stop.wait(0.02):  # its pauses, not the test's
            try:
                handler.wfile.write(b" ")
                handler.wfile.flush()
            except OSError:
                return

    return act


def write(host: str) -> list[Any]:
    limits = ChatLimits(attempts=1, timeout_seconds=5)
    chat = ChatModel(f"http://{host}/v1", "any", limits=limits, listed_hosts=[host])
    return list(chat.generate(["Say"], SETTINGS, seeds=[1]))


SENSELESS = [b"", b"{", b"[]", b"null", b"<html>", b'"text"', b"{}", b'{"choices": []}',
             b'{"choices": [{}]}', b'{"choices": 7}', b'{"choices": [{"message": null}]}',
             b"\xff\xfe\x00", b"[" * 20_000]  # fmt: skip


@pytest.mark.parametrize("body", SENSELESS)
def test_senseless_answers_are_errors_of_the_server(body: bytes) -> None:
    with (
        serve(say(body, Content_Type="application/json")) as host,
        pytest.raises(LanguageModelError),
    ):
        write(host)


def test_a_redirect_is_not_followed() -> None:
    seen: list[str] = []

    def note(handler: BaseHTTPRequestHandler) -> None:
        seen.append(handler.path)
        say(b"{}")(handler)

    with (
        serve(note) as inner,
        serve(say(b"", 307, Location=f"http://{inner}/v1/chat/completions")) as host,
        pytest.raises(LanguageModelError),
    ):
        write(host)
    assert seen == []


def ask(act: Act, **limits: Any) -> bytes:
    with (
        serve(act) as host,
        httpx2.Client(transport=PublicTransport([host], **limits)) as client,
    ):
        return client.get(f"http://{host}/").content


def test_an_answer_is_read_to_its_limit_and_no_further() -> None:
    assert ask(say(b"x" * 1000), most_bytes=1000) == b"x" * 1000
    with pytest.raises(ServerError, match="more than"):
        ask(say(b"x" * 1001), most_bytes=1000)


def test_a_packed_answer_is_not_unpacked() -> None:
    with pytest.raises(ServerError, match="compressed"):
        ask(say(gzip.compress(b"0" * 10_000_000), Content_Encoding="gzip"))


def test_an_answer_that_never_ends_is_given_up() -> None:
    stop = threading.Event()
    try:
        with pytest.raises(ServerError, match="too long to send"):
            ask(drip(stop), most_seconds=0.3)
    finally:
        stop.set()


def test_a_name_without_an_address_is_not_asked_for_a_second_time(monkeypatch) -> None:
    """It could have an inner one by then."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def look_up(host: Any, *rest: Any, **options: Any) -> Any:
        if host != "rebinds.example":
            return real(host, *rest, **options)
        asked.append(host)
        if len(asked) == 1:
            raise socket.gaierror("not yet")
        return real("127.0.0.1", *rest, **options)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with serve(say(b"inner")) as host:
        port = host.rpartition(":")[2]
        with (
            httpx2.Client(transport=PublicTransport([])) as client,
            pytest.raises(httpx2.ConnectError),
        ):
            client.get(f"http://rebinds.example:{port}/")
    assert asked == ["rebinds.example"]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "1.5", '"-1"', "null", "true", "[]"])
def test_what_is_no_log_probability_is_refused(value: str) -> None:
    with pytest.raises(ServerError, match="log-probability"):
        read_logprob(json.loads(value))
    assert read_logprob(-2) == -2.0
    assert read_logprob(float("-inf")) == float("-inf")
