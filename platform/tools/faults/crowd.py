"""Participants who do not give up: they wait for a server that is away and send the page again."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from tools.faults.processes import HOST
from tools.load.http_client import Connection, Response
from tools.load.people import Participant, SurveyError, Times, Visit

PAUSE_SECONDS = 0.2
# People think between two pages, which leaves the machine to whatever is started anew.
THINKING_SECONDS = 0.2
# Nobody waits longer for a page; what takes longer hangs.
PATIENCE_SECONDS = 120.0
LOST_CONNECTION = (OSError, EOFError, TimeoutError)


class DroppedError(ConnectionResetError):
    """The line lost a request on purpose."""


@dataclass
class Watch:
    """What participants saw. ``down`` names what is away just now, "" where nothing is.

    Errors of the server while something is away are ``refused``, all others ``errors``.
    """

    down: str = ""
    refused: Counter[str] = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)
    pages: int = 0
    longest: float = 0.0

    @contextmanager
    def without(self, what: str) -> Iterator[None]:
        """Note that something is away for as long as the block runs."""
        self.down = what
        try:
            yield
        finally:
            self.down = ""

    def note(self, problem: str, down_before: str) -> None:
        """Count a request that failed; ``down_before`` is what was away when it began."""
        away = down_before or self.down
        if away:
            self.refused[f"{problem} while {away}"] += 1
        else:
            self.errors[problem] += 1


class PatientConnection(Connection):
    """Sends a request until it is answered: whoever meets an error loads the page again."""

    def __init__(self, port: int, watch: Watch) -> None:
        super().__init__(HOST, port)
        self._headers = self._headers.replace("X-Forwarded-Proto: https\r\n", "")
        self.watch = watch
        self.thinking = THINKING_SECONDS

    async def get(self, path: str) -> Response:
        return await self._insist(lambda: super(PatientConnection, self).get(_path(path)))

    async def post(self, path: str, body: bytes) -> Response:
        await asyncio.sleep(self.thinking)
        answer = await self._insist(lambda: self._send(_path(path), body))
        self.watch.pages += 1
        return answer

    async def _send(self, path: str, body: bytes) -> Response:
        return await super().post(path, body)

    async def _insist(self, ask: Callable[[], Awaitable[Response]]) -> Response:
        begun = time.monotonic()
        while True:
            down = self.watch.down
            try:
                answer = await ask()
            except LOST_CONNECTION as error:
                self.close()
                problem = f"{type(error).__name__}: {error}"
                if not isinstance(error, DroppedError):
                    self.watch.note("no answer", down)
            else:
                if answer.status < 500:
                    self.watch.longest = max(self.watch.longest, time.monotonic() - begun)
                    return answer
                problem = f"status {answer.status}"
                self.watch.note(problem, down)
            if time.monotonic() - begun > PATIENCE_SECONDS:
                raise SurveyError(f"No answer within {PATIENCE_SECONDS:g} s; at last: {problem}")
            await asyncio.sleep(PAUSE_SECONDS)


def _path(address: str) -> str:
    return urlsplit(address).path + (f"?{query}" if (query := urlsplit(address).query) else "")


class UnrulyConnection(PatientConnection):
    """A line on which what is sent comes twice, late, or not at all, and answers get lost."""

    KINDS = ("plain", "doubled", "dropped", "unanswered", "reordered", "reloaded")

    def __init__(self, port: int, watch: Watch, chance: random.Random) -> None:
        super().__init__(port, watch)
        self.thinking = 0.0
        self.chance = chance
        self.counts: Counter[str] = Counter()
        self._earlier: list[tuple[str, bytes]] = []

    async def _send(self, path: str, body: bytes) -> Response:
        kind = self.chance.choices(self.KINDS, (3, 3, 1, 2, 2, 1))[0]
        self.counts[kind] += 1
        if kind == "dropped":
            raise DroppedError
        if kind == "unanswered":
            await self._send_and_leave(path, body)
        elif kind == "reordered" and self._earlier:
            await self._apart("post", *self.chance.choice(self._earlier))
        elif kind == "reloaded":
            await self._apart("get", path)
        self._earlier.append((path, body))
        if kind != "doubled":
            return await super()._send(path, body)
        answer, _ = await asyncio.gather(super()._send(path, body), self._apart("post", path, body))
        return answer

    async def _apart(self, method: str, *request: object) -> None:
        """Send something on a line of its own; only an error of the server matters."""
        other = PatientConnection(self.port, self.watch)
        await getattr(other, method)(*request)
        other.close()

    async def _send_and_leave(self, path: str, body: bytes) -> None:
        """Send a page and hang up before the answer."""
        _reader, writer = await asyncio.open_connection(self.host, self.port)
        head = (
            f"POST {path} HTTP/1.1\r\n{self._headers}"
            "Content-Type: application/x-www-form-urlencoded\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@dataclass
class Crowd:
    """Participants of one study who take one survey after the other."""

    port: int
    link: str
    numbers: Iterator[int]
    watch: Watch = field(default_factory=Watch)
    visits: list[Visit] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    is_over: bool = False

    async def take_surveys(self, participants: int, *, unruly: bool = False) -> None:
        """Take surveys until ``is_over``; those that were begun are finished."""
        await asyncio.gather(*(self._go_on(unruly) for _ in range(participants)))

    async def _go_on(self, unruly: bool) -> None:
        while not self.is_over:
            await self.take_survey(unruly=unruly)

    async def take_survey(self, *, unruly: bool) -> None:
        number = next(self.numbers)
        connection = self._connect(number, unruly)
        person = Participant(number, connection, self.link, Times())
        try:
            await person.take_part()
        except SurveyError as error:
            self.watch.errors[str(error)] += 1
        finally:
            connection.close()
            self.visits.append(person.visit)
            if isinstance(connection, UnrulyConnection):
                self.counts += connection.counts

    def _connect(self, number: int, unruly: bool) -> PatientConnection:
        if unruly:
            return UnrulyConnection(self.port, self.watch, random.Random(number))  # noqa: S311
        return PatientConnection(self.port, self.watch)


def count_people() -> Iterator[int]:
    """Yield a number for each participant, never the same one twice."""
    return itertools.count(1)
