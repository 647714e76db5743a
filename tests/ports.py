"""Ports that stay free until a program that is started later listens there."""

from __future__ import annotations

import random
import socket

HOST = "127.0.0.1"
# Below those that Linux gives to outgoing connections and to servers that ask for any port, so that
# nobody gets one by chance in the meantime.
FIRST, LAST = 20_000, 32_000


def free_port() -> int:
    """Return a port on which nothing listens, another one each time."""
    chosen = random.SystemRandom()  # not the seeded one, which processes share
    while True:
        port = chosen.randint(FIRST, LAST)
        with socket.socket() as probe:
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
