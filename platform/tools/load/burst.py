"""A burst: hundreds press “Start” at the same moment for the last place of a hard quota."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tools.load.http_client import Connection, Response
from tools.load.pages import Page
from tools.load.people import Participant, Times, Visit
from tools.load.server import HOST, WebServer

IN, TURNED_AWAY = "got in", "turned away"


@dataclass(frozen=True)
class Burst:
    """How many of the arrivals saw what; ``early`` is the visit that took the place before."""

    early: Visit
    seen: Counter[str]


async def run_burst(
    server: WebServer, link: str, *, notice: str, arrivals: int, numbers: Iterator[int]
) -> Burst:
    """Fill all places but one, then let ``arrivals`` press “Start” together.

    ``notice`` is the heading of the page that those see who come too late.
    """
    early = await _join(server, link, next(numbers)).take_part()
    people = [_join(server, link, next(numbers)) for _ in range(arrivals)]
    landings = await asyncio.gather(*(person.arrive() for person in people))
    gate = asyncio.Event()
    pressing = [
        asyncio.create_task(_press(person, page, gate))
        for person, page in zip(people, landings, strict=True)
    ]
    gate.set()
    answers = await asyncio.gather(*pressing, return_exceptions=True)
    for person in people:
        person.connection.close()
    return Burst(early, Counter(_describe(answer, notice) for answer in answers))


def _join(server: WebServer, link: str, number: int) -> Participant:
    return Participant(number, Connection(HOST, server.port), link, Times())


async def _press(person: Participant, landing: Page, gate: asyncio.Event) -> Response:
    await gate.wait()
    return await person.press_start(landing)


def _describe(answer: Response | BaseException, notice: str) -> str:
    if isinstance(answer, BaseException):
        return f"{type(answer).__name__}: {answer}"
    if answer.status == 302:
        return IN
    if answer.status == 403 and notice in answer.html:
        return TURNED_AWAY
    return f"status {answer.status}"
