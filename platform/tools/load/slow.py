"""Clients that keep connections: half of them say nothing, half send a byte a second."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tools.load.server import HOST, WebServer

SLOW_FORM = (
    b"POST /r/none/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\na="
)
BYTE_SECONDS = 1.0


@contextmanager
def keep_slow_clients(server: WebServer, count: int) -> Iterator[None]:
    """Keep ``count`` idle and ``count`` trickling connections; those that are closed come again."""
    done = threading.Event()
    keeper = threading.Thread(target=_keep, args=(server.port, count, done), daemon=True)
    keeper.start()
    try:
        yield
    finally:
        done.set()
        keeper.join()


def _keep(port: int, count: int, done: threading.Event) -> None:
    heads = [b"", SLOW_FORM] * count
    kept: list[socket.socket | None] = [None] * len(heads)
    while True:
        for place, head in enumerate(heads):
            one = kept[place]
            if one is not None and not _sends(one, b"x" if head else b""):
                one.close()
                one = None
            if one is None:
                kept[place] = _open(port, head)
        if done.wait(BYTE_SECONDS):
            break
    for one in kept:
        if one is not None:
            one.close()


def _open(port: int, head: bytes) -> socket.socket | None:
    with suppress(OSError):
        one = socket.create_connection((HOST, port), timeout=5)
        one.sendall(head)
        one.setblocking(False)
        return one
    return None


def _sends(one: socket.socket, part: bytes) -> bool:
    """Send what is due; return whether the server still listens."""
    try:
        one.sendall(part)
        one.recv(1)  # an answer, or the end
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False
