"""Connections to servers on the internet only, unless their hosts are listed.

A base URL is typed by a researcher, but requested from inside the workers' network. Names are
resolved once for each request, every address they have is judged, and the connection goes to an
address that was judged: a name that resolves otherwise a moment later gains nothing.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import time
from collections.abc import Collection, Iterator
from functools import cache
from urllib.parse import urlsplit

import httpx2  # what openai is built on

from probing.lm.errors import AddressRefusedError, ServerError

#: IPv6 of the internet, and what leads from there into IPv4 or is written down for examples.
_GLOBAL = ipaddress.ip_network("2000::/3")
_NOT_GLOBAL = [
    ipaddress.ip_network(text)
    for text in (
        "2001::/23",  # Teredo, benchmarks, ORCHID
        "2002::/16",  # 6to4
        "3fff::/20",  # documentation
        "192.0.0.0/24",  # a cloud's metadata, among others
        "192.88.99.0/24",  # relays of 6to4
        "168.63.129.16/32",  # a cloud's inner server, at a public address
    )
]
#: IPv6 that stands for an IPv4 address in its last four bytes: mapped, and NAT64.
_HOLDS_IPV4 = [ipaddress.ip_network(text) for text in ("::ffff:0:0/96", "64:ff9b::/96")]
#: An answer with the log-probabilities of a long prompt has some megabytes.
MOST_BYTES = 64 * 2**20


@cache
def trust() -> ssl.SSLContext:
    """Return the authorities that vouch for servers, read once: to read them takes a while."""
    return httpx2.create_ssl_context()


def is_listed(url: str, hosts: Collection[str]) -> bool:
    """Return whether ``hosts`` names the URL's host, alone or with its port: “llm.lab:8000”."""
    parts = urlsplit(url)
    return bool({parts.hostname, parts.netloc.rpartition("@")[2].lower()} & set(hosts))


def is_public(address: str) -> bool:
    """Return whether an IP address is a host's on the internet, by every name that it may have.

    >>> is_public("93.184.216.34"), is_public("64:ff9b::10.0.0.7"), is_public("ff0e::1")
    (True, False, False)
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address):
        if any(found in network for network in _HOLDS_IPV4):
            return is_public(str(ipaddress.IPv4Address(found.packed[-4:])))
        if found not in _GLOBAL:
            return False
    is_special = found.is_multicast or found.is_reserved or not found.is_global
    return not is_special and not any(found in network for network in _NOT_GLOBAL)


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
    if not all(map(is_public, addresses)):
        raise AddressRefusedError(
            f"The server {parts.netloc} is not on the internet. Ask the administrator to list it "
            "in MODEL_SERVER_HOSTS, or give another base URL."
        )
    return addresses[0] if addresses else None


class PublicTransport(httpx2.HTTPTransport):
    """Sends a request to an address that was judged; hosts that are listed are reached by name.

    An answer has at most ``most_bytes``, as they come, and comes whole within ``most_seconds``.
    """

    def __init__(
        self,
        hosts: Collection[str],
        *,
        most_bytes: int = MOST_BYTES,
        most_seconds: float = 600.0,
    ) -> None:
        super().__init__(verify=trust())
        self.hosts = frozenset(hosts)
        self.most_bytes = most_bytes
        self.most_seconds = most_seconds

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = str(request.url)
        # Compressed, an answer could grow beyond every limit where it is read.
        request.headers["Accept-Encoding"] = "identity"
        if not is_listed(url, self.hosts):
            address = find_public_address(url)
            if address is None:  # asked again, the name could have another answer
                raise httpx2.ConnectError("The server's name has no address.", request=request)
            # The certificate and the Host header stay those of the name.
            request.extensions["sni_hostname"] = request.url.host
            request.url = request.url.copy_with(host=address)
        response = super().handle_request(request)
        host = urlsplit(url).netloc.rpartition("@")[2]
        if response.headers.get("Content-Encoding", "identity") != "identity":
            response.close()
            raise ServerError(f"The server {host} answers compressed, which was not asked for.")
        if isinstance(response.stream, httpx2.SyncByteStream):
            end = time.monotonic() + self.most_seconds
            response.stream = BoundedStream(response.stream, host, self.most_bytes, end)
        return response


class BoundedStream(httpx2.SyncByteStream):
    """The body of an answer; raises :class:`ServerError` once it is too long or too slow."""

    def __init__(
        self, stream: httpx2.SyncByteStream, host: str, most_bytes: int, end: float
    ) -> None:
        self.stream = stream
        self.host = host
        self.most_bytes = most_bytes
        self.end = end

    def __iter__(self) -> Iterator[bytes]:
        count = 0
        for part in self.stream:
            count += len(part)
            if count > self.most_bytes:
                limit = f"{self.most_bytes / 2**20:g} MB"
                raise ServerError(f"The server {self.host} answers with more than {limit}.")
            if time.monotonic() > self.end:
                raise ServerError(f"The server {self.host} takes too long to send its answer.")
            yield part

    def close(self) -> None:
        self.stream.close()
