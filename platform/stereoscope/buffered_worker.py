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
from waitress.utilities import Error, RequestEntityTooLarge, RequestHeaderFieldsTooLarge

from stereoscope.bodies import (
    FILE_BYTES,
    FILE_PREFIXES,
    FORM_BYTES,
    UPLOAD_PREFIXES,
    holds_files,
    may_send_files,
)
from stereoscope.server import head_seconds

logger = logging.getLogger("gunicorn.error")

#: Connections of one process; those that wait cost a few kilobytes each.
MOST_CONNECTIONS = 4_000
#: Open files that are not connections: database, logs, uploads.
OTHER_FILES = 200
HEADER_BYTES, MOST_HEADERS = 64_000, 100
#: How long a connection may say nothing, and how often that is looked for.
SILENT_SECONDS, LOOK_SECONDS = 60, 1
#: How slowly a body may come, once its head is there.
SLOWEST_BYTES_PER_SECOND = 10_000
#: Bodies above the first size are refused while those being read come to more than the second.
SMALL_BYTES, MOST_BYTES = 64_000, 200_000_000
#: How long the loop waits for anything to happen.
POLL_SECONDS = 1.0
#: A stopping worker is done when nothing more has arrived for so long.
QUIET_SECONDS = 0.2

_FORMS = Adjustments(max_request_body_size=FORM_BYTES + 1)


class _AddressTooLongError(Error):
    code = HTTPStatus.REQUEST_URI_TOO_LONG.value
    reason = HTTPStatus.REQUEST_URI_TOO_LONG.phrase


class _NoFilesError(Error):
    code = HTTPStatus.UNSUPPORTED_MEDIA_TYPE.value
    reason = HTTPStatus.UNSUPPORTED_MEDIA_TYPE.phrase


class _BusyError(Error):
    code = HTTPStatus.SERVICE_UNAVAILABLE.value
    reason = HTTPStatus.SERVICE_UNAVAILABLE.phrase


class _Request(HTTPRequestParser):
    """A request whose body is limited by who may send one."""

    error: Error | None
    is_judged = False

    @property
    def expected_bytes(self) -> int:
        """How long the body may become."""
        return FORM_BYTES if self.chunked else int(self.content_length)

    def received(self, data: bytes) -> int:
        consumed: int = super().received(data)
        if isinstance(self.error, RequestHeaderFieldsTooLarge) and b"\n" not in self.header_plus:
            self.error = _AddressTooLongError("exceeds the longest address")
        if self.error:
            # Who asks before sending the body gets the refusal, not leave to send it.
            self.completed, self.expect_continue = True, False
            logger.warning("Invalid request from (a client): %s", self.error.body)
        return consumed

    def parse_header(self, header_plus: bytes) -> None:
        if header_plus.count(b"\n") > MOST_HEADERS:
            raise ParsingError(f"more than {MOST_HEADERS} headers")
        super().parse_header(header_plus)
        if self.chunked and "CONTENT_LENGTH" in self.headers:
            raise ParsingError("two lengths of one body")  # proxies would choose the other one
        if self.chunked or not self.path.startswith(FILE_PREFIXES):
            self.adj = _FORMS
        is_upload = self.expected_bytes > 0 and holds_files(self.headers.get("CONTENT_TYPE", ""))
        if is_upload and not self.path.startswith(UPLOAD_PREFIXES):
            self.error = _NoFilesError("no file can be sent here")


class _Channel(HTTPChannel):
    parser_class = _Request
    begun = 0.0
    is_judging = False

    @property
    def is_busy(self) -> bool:
        """Whether a request has arrived whose answer is not yet sent."""
        return bool(self.requests or self.total_outbufs_len)

    def is_late(self, now: float) -> bool:
        """Whether the request that is being read takes longer than one may."""
        if self.request is None or self.requests or self.is_judging:
            self.begun = now
            return False
        body = self.request.expected_bytes if self.request.headers_finished else 0
        return bool(now - self.begun > head_seconds + body / SLOWEST_BYTES_PER_SECOND)

    def readable(self) -> bool:
        return not self.is_judging and bool(super().readable())

    def received(self, data: bytes) -> bool:
        before = self.request
        took: bool = super().received(data)
        request = self.request
        if request is not before:
            self.begun = time.monotonic()
        if request is not None and request.headers_finished and not request.is_judged:
            request.is_judged = True
            if request.expected_bytes > FORM_BYTES:
                self.is_judging = True
                self.server.add_task(_Judgment(self, request))
            elif request.expected_bytes > SMALL_BYTES and self._count_unread() > MOST_BYTES:
                self.refuse(request, _BusyError("too much is being sent; try again"))
        return took

    def refuse(self, request: _Request, error: Error) -> None:
        """Answer a request that is still being read, and read no further."""
        with self.requests_lock:
            request.error, request.completed = error, True
            self.request = None
            self.requests.append(request)
            if len(self.requests) == 1:
                self.server.add_task(self)

    def _count_unread(self) -> int:
        others = [channel.request for channel in self.server.active_channels.values()]
        return sum(min(one.expected_bytes, FORM_BYTES) for one in others if one is not None)


class _Judgment:
    """Whether a body too large for a form comes from a researcher, asked before it is read."""

    def __init__(self, channel: _Channel, request: _Request) -> None:
        self.channel, self.request = channel, request

    def service(self) -> None:
        """Look the session or the token up, in a thread: the loop never waits for a database."""
        from django.db import DatabaseError, close_old_connections
        from django.http import parse_cookie

        headers = self.request.headers
        close_old_connections()
        try:
            if not may_send_files(
                self.request.path,
                cookies=parse_cookie(headers.get("COOKIE", "")),
                authorization=headers.get("AUTHORIZATION", ""),
            ):
                limit = RequestEntityTooLarge(f"exceeds {FORM_BYTES} bytes; sign in to send files")
                self.channel.refuse(self.request, limit)
        except DatabaseError:
            self.channel.refuse(self.request, _BusyError("the database is away; try again"))
        finally:
            close_old_connections()
            self.channel.is_judging = False
            self.channel.server.pull_trigger()

    def cancel(self) -> None:
        """Leave it: the server stops."""


class BufferedWorker(Worker):
    """Waitress's server on gunicorn's sockets, in gunicorn's process."""

    # A worker may be told to stop before it listens.
    _servers: Sequence[BaseWSGIServer] = ()
    _next_look = 0.0

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
            inbuf_overflow=FORM_BYTES,  # a form is kept in memory
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
            self._close_late()
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

    def _close_late(self) -> None:
        if (now := time.monotonic()) < self._next_look:
            return
        self._next_look = now + LOOK_SECONDS
        for one in self._connections.values():
            if isinstance(one, _Channel) and one.is_late(now):
                one.will_close = True

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
