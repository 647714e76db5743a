"""Headers that a client makes up: they change no link, lift no limit and take no page down."""

from __future__ import annotations

import http.client
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from tests.web_server import HOST, run_web_server

EVIL = "evil.example"
FORGED = {
    "X-Forwarded-Host": EVIL,
    "X-Forwarded-Server": EVIL,
    "X-Forwarded-Port": "666",
    "X-Original-URL": "/admin/",
    "X-Rewrite-URL": "/admin/",
    "X-HTTP-Method-Override": "DELETE",
    "X-Host": EVIL,
    "Forwarded": f"host={EVIL};proto=https",
}


@pytest.mark.django_db
@pytest.mark.parametrize("host", [EVIL, f"localhost@{EVIL}", "localhost, evil.example", "a b"])
def test_a_host_that_is_not_ours_gets_no_page(host: str) -> None:
    answer = Client(headers={"host": host}).get("/")
    assert answer.status_code == 400
    assert EVIL not in answer.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/admin/", "/annotate/", "/api/v1/studies/"])
def test_forged_headers_of_proxies_change_nothing(address: str) -> None:
    plain = Client(headers={"host": "localhost"}).get(address)
    forged = Client(headers={"host": "localhost", **FORGED}).get(address)
    assert forged.status_code == plain.status_code
    assert forged.headers.get("Location") == plain.headers.get("Location")
    assert EVIL not in forged.content.decode() + str(forged.headers)


@pytest.mark.django_db
def test_a_forged_protocol_is_believed_of_a_proxy_alone(settings: Any) -> None:
    answer = Client(headers={"X-Forwarded-Proto": "https"}).get("/")
    assert answer.status_code == 200
    assert answer.wsgi_request.scheme == "http"
    assert "Strict-Transport-Security" not in answer.headers


@pytest.mark.django_db
def test_a_client_that_names_other_addresses_is_still_one_client(settings: Any) -> None:
    settings.LOGINS_PER_MINUTE, settings.TRUSTED_PROXIES = 3, 0
    User.objects.create_user("alice", password="right", is_staff=True)
    statuses = []
    for n in range(6):
        browser = Client(headers={"X-Forwarded-For": f"10.0.0.{n}", "X-Real-IP": f"10.0.1.{n}"})
        form = {"username": "alice", "password": "wrong"}
        statuses.append(browser.post(reverse("admin:login"), form).status_code)
    assert statuses == [200, 200, 200, 429, 429, 429]


@pytest.mark.slow
def test_oversize_headers_and_cookies_are_refused_and_others_are_served(
    tmp_path: Path, make_database: Callable[[Path], None]
) -> None:
    database = tmp_path / "var" / "stereoscope.sqlite3"
    make_database(database)
    with run_web_server(f"sqlite:///{database}", tmp_path) as port:

        def ask(path: str = "/", **headers: str) -> int:
            with closing(http.client.HTTPConnection(HOST, port, timeout=60)) as link:
                link.request("GET", path, headers=headers)
                return link.getresponse().status

        cookies = "; ".join(f"c{n}={'x' * 60}" for n in range(100))
        assert ask(Cookie=cookies) == 200
        assert ask("/admin/", Cookie=f"sessionid={'x' * 6000}") == 302
        assert ask("/admin/", Cookie="sessionid=\x01; csrftoken=é".encode().decode("latin-1")) in (
            *(302, 400),
        )
        assert ask(Cookie="x" * 100_000) in (400, 431)
        assert ask(**{"Accept-Language": "en," * 2000}) in (200, 400)
        assert ask(**{f"X-Header-{n}": "x" for n in range(300)}) in (400, 431)
        assert ask("/" + "x" * 100_000) in (400, 414)
        with socket.create_connection((HOST, port), timeout=60) as link:
            link.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\n")
            link.sendall(b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n")
            assert link.recv(64).startswith(b"HTTP/1.1 400")
        assert ask() == 200
    log = (tmp_path / "web.log").read_text()
    assert "Traceback" not in log
    assert "Invalid request from (a client)" in log
    assert f"ip={HOST}" not in log
