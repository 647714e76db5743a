"""A line to PostgreSQL on which every answer takes its time, and sometimes nothing moves at all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from tools.faults.processes import HOST

CHUNK_BYTES = 65_536


@dataclass
class SlowLine:
    """``delay`` is in seconds for each message; while ``free`` is not set, none passes."""

    port: int
    delay: float
    free: asyncio.Event

    @asynccontextmanager
    async def stall(self) -> AsyncIterator[None]:
        self.free.clear()
        try:
            yield
        finally:
            self.free.set()


@asynccontextmanager
async def open_slow_line(target: int, *, delay: float) -> AsyncIterator[SlowLine]:
    """Listen on a port of its own and pass everything on to ``target`` and back."""
    line = SlowLine(0, delay, asyncio.Event())
    line.free.set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_connection(HOST, target)
        await asyncio.gather(_pass_on(line, reader, there[1]), _pass_on(line, there[0], writer))

    server = await asyncio.start_server(serve, HOST, 0)
    line.port = server.sockets[0].getsockname()[1]
    try:
        yield line
    finally:
        server.close()


async def _pass_on(
    line: SlowLine, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    with suppress(OSError):
        while chunk := await reader.read(CHUNK_BYTES):
            await asyncio.sleep(line.delay)
            await line.free.wait()
            writer.write(chunk)
            await writer.drain()
    with suppress(OSError):
        writer.close()
