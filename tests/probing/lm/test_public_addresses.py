"""Servers off the internet are not asked, whatever their names resolve to in between."""

from __future__ import annotations

import socket
from typing import Any

import httpx2
import pytest

from probing.lm.chat import ChatModel
from probing.lm.chat_limits import ChatLimits
from probing.lm.errors import AddressRefusedError
from probing.lm.public_addresses import PublicTransport, find_public_address
from probing.lm.text_protocols import GenerationSettings
from tests.openai_server import SERVED_NAME, OpenAIServer, serve_openai

SETTINGS = GenerationSettings(max_new_tokens=2, temperature=0.0)


def resolve_to(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[Any]:
    """Let names resolve to the addresses of each answer in turn; return what was asked."""
    asked: list[Any] = []

    def look_up(host: str, port: int, **options: Any) -> list[Any]:
        found = answers[min(len(asked), len(answers) - 1)]
        asked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in found]

    monkeypatch.setattr("probing.lm.public_addresses.socket.getaddrinfo", look_up)
    return asked


@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "10.0.0.7", "192.168.1.1", "172.16.0.1", "169.254.169.254", "0.0.0.1",
     "100.64.0.1", "::1", "fe80::1%eth0", "fd00::1", "::ffff:10.0.0.1",
     # NAT64, 6to4, Teredo, IPv4-compatible, site-local, multicast
     "64:ff9b::a00:7", "64:ff9b:1::1", "2002:a00:7::1", "2001:0:4136:e378::1", "::10.0.0.7",
     "fec0::1", "ff0e::1", "224.0.0.1", "3fff::1", "4000::1",
     # metadata of clouds: Alibaba, Azure, Oracle, Amazon, Google
     "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254"],
)  # fmt: skip
def test_addresses_off_the_internet_are_refused(monkeypatch, address) -> None:
    resolve_to(monkeypatch, ["93.184.216.34", address])
    with pytest.raises(AddressRefusedError, match="MODEL_SERVER_HOSTS"):
        find_public_address("https://models.example/v1")


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:4700::6810:84e5", "64:ff9b::5db8:d822"])
def test_addresses_of_the_internet_are_asked(monkeypatch, address) -> None:
    resolve_to(monkeypatch, [address])
    assert find_public_address("https://models.example/v1") == address


def test_each_redirect_is_judged_anew(monkeypatch) -> None:
    resolve_to(monkeypatch, ["93.184.216.34"], ["10.0.0.7"])
    moved = httpx2.Response(302, headers={"Location": "https://inner.example/"})
    monkeypatch.setattr(httpx2.HTTPTransport, "handle_request", lambda *_: moved)
    with (
        httpx2.Client(transport=PublicTransport([]), follow_redirects=True) as client,
        pytest.raises(AddressRefusedError, match=r"inner\.example"),
    ):
        client.get("https://models.example/v1/models")


def test_the_request_goes_to_the_address_that_was_judged(monkeypatch) -> None:
    resolve_to(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    sent: list[httpx2.Request] = []

    def keep(self: Any, request: httpx2.Request) -> httpx2.Response:
        sent.append(request)
        return httpx2.Response(200)

    monkeypatch.setattr(httpx2.HTTPTransport, "handle_request", keep)
    with httpx2.Client(transport=PublicTransport([])) as client:
        client.get("https://models.example/v1/models")
        with pytest.raises(AddressRefusedError):
            client.get("https://models.example/v1/models")
    (request,) = sent
    assert request.url.host == "93.184.216.34"
    assert request.headers["Host"] == "models.example"
    assert request.extensions["sni_hostname"] == "models.example"


@pytest.mark.shared
def test_a_real_server_here_is_asked_only_where_it_is_listed(checkpoints) -> None:
    with serve_openai(checkpoints / "tiny-gpt2") as server:
        host = server.base_url.split("/")[2]
        for listed in ([host], [host.split(":")[0]], None):
            assert write(server, listed)
        asked = len(server.requests)
        with pytest.raises(AddressRefusedError, match=host):
            write(server, [])
        assert len(server.requests) == asked


def write(server: OpenAIServer, listed: list[str] | None) -> list[Any]:
    chat = ChatModel(
        server.base_url, SERVED_NAME, limits=ChatLimits(attempts=1), listed_hosts=listed
    )
    return list(chat.generate(["Say"], SETTINGS, seeds=[1]))
