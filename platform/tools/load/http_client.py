"""One kept-alive HTTP connection, light enough for hundreds of them beside the server."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.IGNORECASE)
LOCATION = re.compile(rb"\r\nlocation: *([^\r]*)", re.IGNORECASE)
CLOSES = re.compile(rb"\r\nconnection: *close", re.IGNORECASE)
# Longer than anything that is still called an answer.
PATIENCE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Response:
    """``location`` is where it redirects to, "" if it does not."""

    status: int
    location: str
    html: str


class Connection:
    """Opens itself when it is first used, and anew where the server has closed it meanwhile."""

    def __init__(self, host: str, port: int) -> None:
        self.host = host
        self.port = port
        # As a proxy that ends TLS passes requests on.
        self._headers = f"Host: {host}:{port}\r\nX-Forwarded-Proto: https\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def get(self, path: str) -> Response:
        return await self._ask(f"GET {path} HTTP/1.1\r\n{self._headers}\r\n".encode())

    async def post(self, path: str, body: bytes) -> Response:
        head = (
            f"POST {path} HTTP/1.1\r\n{self._headers}"
            "Content-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return await self._ask(head.encode() + body)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _ask(self, request: bytes) -> Response:
        was_open = self._streams is not None
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await self._exchange(request)
        except (ConnectionError, asyncio.IncompleteReadError) as error:
            self.close()
            has_begun = isinstance(error, asyncio.IncompleteReadError) and bool(error.partial)
            # A kept connection that was closed before it answered is opened again, as browsers do.
            if not was_open or has_begun:
                raise
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self._exchange(request)

    async def _exchange(self, request: bytes) -> Response:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self.host, self.port)
        reader, writer = self._streams
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length, location = LENGTH.search(head), LOCATION.search(head)
        body = await reader.readexactly(int(length[1])) if length else b""
        if CLOSES.search(head):
            self.close()
        return Response(int(head[9:12]), location[1].decode() if location else "", body.decode())
