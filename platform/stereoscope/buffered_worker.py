"""A worker of gunicorn that reads whole requests before a thread is busy with one.

gunicorn's own threads wait for their clients: a dozen connections that send nothing or one byte at
a time would stop the site. Here one loop reads and writes for all connections, with the code of
waitress, and the threads get requests that have arrived.
"""

from __future__ import annotations

import logging
import os
import resource
import time
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import BaseWSGIServer, create_server
from waitress.utilities import Error, RequestHeaderFieldsTooLarge

from stereoscope.bodies import FILE_BYTES, FILE_PREFIXES, FORM_BYTES

logger = logging.getLogger("gunicorn.error")

#: Connections of one process; those that wait cost a few kilobytes each.
MOST_CONNECTIONS = 4_000
#: Open files that are not connections: database, logs, uploads.
OTHER_FILES = 200
HEADER_BYTES, MOST_HEADERS = 64_000, 100
#: How long a connection may say nothing, and how often that is looked for.
SILENT_SECONDS, LOOK_SECONDS = 60, 5
#: How long the loop waits for anything to happen.
POLL_SECONDS = 1.0
#: A stopping worker is done when nothing more has arrived for so long.
QUIET_SECONDS = 0.2

_FORMS = Adjustments(max_request_body_size=FORM_BYTES + 1)


class _AddressTooLongError(Error):
    code = HTTPStatus.REQUEST_URI_TOO_LONG.value
    reason = HTTPStatus.REQUEST_URI_TOO_LONG.phrase


class _Request(HTTPRequestParser):
    """A request whose body is limited by who may send one."""

    error: Error | None

    def received(self, data: bytes) -> int:
        consumed: int = super().received(data)
        if isinstance(self.error, RequestHeaderFieldsTooLarge) and b"\n" not in self.header_plus:
            self.error = _AddressTooLongError("exceeds the longest address")
        if self.error:
            logger.warning("Invalid request from (a client): %s", self.error.body)
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        if header_plus.count(b"\n") > MOST_HEADERS:
            raise ParsingError(f"more than {MOST_HEADERS} headers")
        super().parse_header(header_plus)
        if self.chunked and "CONTENT_LENGTH" in self.headers:
            raise ParsingError("two lengths of one body")  # proxies would choose the other one
        is_known = "COOKIE" in self.headers or "AUTHORIZATION" in self.headers
        if not (is_known and self.path.startswith(FILE_PREFIXES)):
            self.adj = _FORMS


class _Channel(HTTPChannel):
    parser_class = _Request

    @property
    def is_busy(self) -> bool:
        """Whether a request has arrived whose answer is not yet sent."""
        return bool(self.requests or self.total_outbufs_len)


class BufferedWorker(Worker):
    """Waitress's server on gunicorn's sockets, in gunicorn's process."""

    # A worker may be told to stop before it listens.
    _servers: Sequence[BaseWSGIServer] = ()

    def run(self) -> None:
        """Serve until told to stop; then answer what has arrived, within `graceful_timeout`."""
        self._connections: dict[int, Any] = {}
        server = create_server(
            self.wsgi,
            map=self._connections,
            sockets=[one.sock for one in self.sockets],
            threads=self.cfg.threads,
            backlog=self.cfg.backlog,
            connection_limit=_allow_connections(),
            channel_timeout=SILENT_SECONDS,
            cleanup_interval=LOOK_SECONDS,
            max_request_header_size=HEADER_BYTES,
            max_request_body_size=FILE_BYTES,
            clear_untrusted_proxy_headers=False,  # TRUSTED_PROXIES says which of them are read
            asyncore_use_poll=True,
            ident=None,
        )
        self._servers = [
            one for one in self._connections.values() if isinstance(one, BaseWSGIServer)
        ]
        for one in self._servers:
            one.channel_class = _Channel
        while self.alive and self.ppid == os.getppid():
            self._turn(POLL_SECONDS)
        self._finish()
        server.task_dispatcher.shutdown(timeout=0)
        wasyncore.close_all(self._connections)

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Stop, and wake the loop for it."""
        super().handle_exit(sig, frame)
        for one in self._servers:
            one.pull_trigger()

    def _turn(self, seconds: float) -> None:
        self.notify()
        wasyncore.loop(timeout=seconds, use_poll=True, map=self._connections, count=1)

    def _finish(self) -> None:
        for one in self._servers:
            one.accepting = False
        now = time.monotonic()
        end, quiet = now + self.cfg.graceful_timeout, now + QUIET_SECONDS
        while now < min(end, quiet):
            self._turn(QUIET_SECONDS / 4)
            now = time.monotonic()
            if any(isinstance(one, _Channel) and one.is_busy for one in self._connections.values()):
                quiet = now + QUIET_SECONDS


def _allow_connections() -> int:
    """Raise the limit of open files as far as allowed; return how many connections that is."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_CONNECTIONS + OTHER_FILES
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(hard, wanted)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return min(soft, wanted) - OTHER_FILES
