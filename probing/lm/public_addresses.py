"""Connections to servers on the internet only, unless their hosts are listed.

A base URL is typed by a researcher, but requested from inside the workers' network. Names are
resolved once for each request, every address they have is judged, and the connection goes to an
address that was judged: a name that resolves otherwise a moment later gains nothing.
"""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Collection
from urllib.parse import urlsplit

import httpx2  # what openai is built on

from probing.lm.errors import AddressRefusedError


def is_listed(url: str, hosts: Collection[str]) -> bool:
    """Return whether ``hosts`` names the URL's host, alone or with its port: “llm.lab:8000”."""
    parts = urlsplit(url)
    return bool({parts.hostname, parts.netloc.rpartition("@")[2].lower()} & set(hosts))


def find_public_address(url: str) -> str | None:
    """Return an address of the URL's host; None where the name has none, or nobody can tell.

    Raises :class:`AddressRefusedError` if any of its addresses is private, link-local, loopback or
    otherwise not on the internet.
    """
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return None
    addresses = [str(place[0]) for *_, place in found]
    if not all(ipaddress.ip_address(address.partition("%")[0]).is_global for address in addresses):
        raise AddressRefusedError(
            f"The server {parts.netloc} is not on the internet. Ask the administrator to list it "
            "in MODEL_SERVER_HOSTS, or give another base URL."
        )
    return addresses[0] if addresses else None


class PublicTransport(httpx2.HTTPTransport):
    """Sends a request to an address that was judged; hosts that are listed are reached by name."""

    def __init__(self, hosts: Collection[str]) -> None:
        super().__init__()
        self.hosts = frozenset(hosts)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = str(request.url)
        if not is_listed(url, self.hosts) and (address := find_public_address(url)):
            # The certificate and the Host header stay those of the name.
            request.extensions["sni_hostname"] = request.url.host
            request.url = request.url.copy_with(host=address)
        return super().handle_request(request)
