"""One level: a number of participants at once, one survey after the other, until time is up."""

from __future__ import annotations

import asyncio
import itertools
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.load.http_client import Connection
from tools.load.people import Participant, SurveyError, Times, Visit
from tools.load.server import HOST, WebServer
from tools.load.usage import cpu_seconds, watch_peak


@dataclass(frozen=True)
class Outcome:
    """What participants of a level saw, and what they cost. Errors are counted by their text."""

    seconds: float
    times: Times
    visits: list[Visit]
    errors: Counter[str]
    server_cpu_seconds: float
    server_peak_bytes: int
    client_peak_bytes: int


@dataclass
class _Crowd:
    server: WebServer
    link: str
    numbers: Iterator[int]
    until: float
    times: Times = field(default_factory=Times)
    visits: list[Visit] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)

    async def take_surveys(self) -> None:
        """Take surveys on one connection until time is up; the last one is finished."""
        while time.monotonic() < self.until:
            connection = Connection(HOST, self.server.port)
            person = Participant(next(self.numbers), connection, self.link, self.times)
            try:
                await person.take_part()
            except (SurveyError, OSError, EOFError, TimeoutError) as error:
                self.errors[f"{type(error).__name__}: {error}"] += 1
            finally:
                connection.close()
            if person.visit.token:
                self.visits.append(person.visit)


async def run_level(
    server: WebServer, link: str, *, participants: int, seconds: float, numbers: Iterator[int]
) -> Outcome:
    """Let ``participants`` take surveys at once; nobody begins another one after ``seconds``."""
    server_peaks: list[int] = []
    client_peaks: list[int] = []
    watchers = [
        asyncio.create_task(watch_peak(server.pids, server_peaks)),
        asyncio.create_task(watch_peak(lambda: [os.getpid()], client_peaks)),
    ]
    cpu_before, begun = cpu_seconds(server.pids()), time.monotonic()
    crowd = _Crowd(server, link, numbers, begun + seconds)
    await asyncio.gather(*(crowd.take_surveys() for _ in range(participants)))
    elapsed = time.monotonic() - begun
    for watcher in watchers:
        watcher.cancel()
    return Outcome(
        seconds=elapsed,
        times=crowd.times,
        visits=crowd.visits,
        errors=crowd.errors,
        server_cpu_seconds=cpu_seconds(server.pids()) - cpu_before,
        server_peak_bytes=max(server_peaks, default=0),
        client_peak_bytes=max(client_peaks, default=0),
    )


def count_people() -> Iterator[int]:
    """Yield a number for each participant of a measurement."""
    return itertools.count(1)
