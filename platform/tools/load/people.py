"""Simulated participants: each takes a survey page by page, and remembers what was answered."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import urlencode

from tools.load.http_client import Connection, Response
from tools.load.pages import Page, read_page

CLIENT = {"device": "desktop", "pointer": "mouse", "open_ms": 41_200, "visible_ms": 40_900}
# What an answer belongs to: the step's place among the rating pages, the group, what was asked.
Place = tuple[int, str, str]


class SurveyError(Exception):
    """Something else came than a survey sends; the message says what."""


def encode(person: int, group: str, scale: str) -> int:
    """A rating that tells participant, group and scale apart, the same one in the repetition."""
    return hashlib.sha256(f"{person}/{group}/{scale}".encode()).digest()[0] % 101


def encode_age(person: int) -> int:
    return 18 + person % 60


@dataclass
class Times:
    """Seconds: one number for each page sent, answered and followed by the next page."""

    submits: list[float] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)


@dataclass
class Visit:
    """One survey as its participant knows it. ``answers`` are those that the server has taken."""

    person: int
    token: str = ""
    answers: dict[Place, str] = field(default_factory=dict)
    pages: int = 0
    is_complete: bool = False


class Participant:
    """Somebody who takes a survey once, from the panel's link to the completion page."""

    def __init__(self, number: int, connection: Connection, link: str, times: Times) -> None:
        self.number = number
        self.connection = connection
        self.link = f"{link}?PROLIFIC_PID=person{number}&SESSION_ID=session{number}"
        self.times = times
        self.visit = Visit(number)
        self._rated: list[str] = []

    async def take_part(self) -> Visit:
        """Answer all pages. Raises `SurveyError` for an answer that no participant should see."""
        page = await self._start()
        while page.is_step:
            answers = dict(self._answer(page))
            body = urlencode(page.hidden | dict(self._fields(page, answers))).encode()
            begun = time.perf_counter()
            following = await self._send(page, body)
            self.times.submits.append(time.perf_counter() - begun)
            self.visit.answers |= answers
            self.visit.pages += 1
            page = following
        self.visit.is_complete = "data-finished=" in page.html
        return self.visit

    async def arrive(self) -> Page:
        """Open the study's link; returns the page with the button that starts."""
        return read_page(_expect(await self.connection.get(self.link), 200).html)

    async def press_start(self, landing: Page) -> Response:
        return await self.connection.post(landing.action, urlencode(landing.hidden).encode())

    async def _start(self) -> Page:
        begun = time.perf_counter()
        started = _expect(await self.press_start(await self.arrive()), 302)
        self.visit.token = started.location.strip("/").split("/")[-1]
        page = read_page(_expect(await self.connection.get(started.location), 200).html)
        self.times.starts.append(time.perf_counter() - begun)
        return page

    async def _send(self, page: Page, body: bytes) -> Page:
        """Send a page, follow the redirect and load what comes next: one submit."""
        taken = _expect(await self.connection.post(page.action, body), 302)
        return read_page(_expect(await self.connection.get(taken.location), 200).html)

    def _answer(self, page: Page) -> Iterator[tuple[Place, str]]:
        """Yield what this page's answers mean, by what they belong to."""
        lines = page.lines
        if lines:
            self._rated.append(page.group)
            for line in lines:
                value = encode(self.number, self._rated[-1], line.key)
                yield self._place(line.key), str(value)
        elif page.asks("group-name"):
            yield self._place("group-name"), self._rated[-1]
        elif page.asks("near"):
            yield self._place("near"), max(page.choices("near"), key=self._nearness)
            yield self._place("far"), min(page.choices("far"), key=self._nearness)
        elif page.asks("answer-age"):
            yield (0, "", "age"), str(encode_age(self.number))

    def _place(self, question: str) -> Place:
        return len(self._rated), self._rated[-1], question

    def _fields(self, page: Page, answers: dict[Place, str]) -> Iterator[tuple[str, str]]:
        """Yield the fields of the form that give ``answers``, with what a browser times."""
        asked = {question: text for (_, _, question), text in answers.items()}
        lines = page.lines
        timed = {line.key: {"first_touch_ms": 900, "changes": 2} for line in lines}
        yield "client", json.dumps({**CLIENT, "lines": timed})
        for line in lines:
            value = int(asked[line.key])
            yield f"value-{line.key}", str(100 - value if line.flipped else value)
        if page.asks("agree"):
            yield "agree", "yes"
        elif "age" in asked:
            yield "answer-age", asked["age"]
        elif not lines:
            yield from asked.items()

    def _nearness(self, option: str) -> int:
        scale, _, pole = option.rpartition(":")
        value = encode(self.number, self._rated[-1], scale)
        return value if pole == "high" else 100 - value


def _expect(response: Response, status: int) -> Response:
    if response.status != status:
        raise SurveyError(f"The server answered {response.status}, expected {status}.")
    return response
