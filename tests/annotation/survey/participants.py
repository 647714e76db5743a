"""Simulated participants: they read each page and answer what it asks, over HTTP or in process."""

from __future__ import annotations

import http.client
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlencode

from django.test import Client

from tests.annotation.survey.pages import SurveyPage, read_page

Rate = Callable[[str, str], int]


@dataclass(frozen=True)
class Answer:
    """A response; ``location`` is where it redirects to, "" if it does not."""

    status: int
    html: str
    location: str

    @property
    def page(self) -> SurveyPage:
        return read_page(self.html)


class Connection(Protocol):
    def get(self, path: str) -> Answer: ...

    def post(self, path: str, fields: dict[str, str | list[str]]) -> Answer: ...


class InProcess:
    """Django's test client, CSRF checks on, cookies kept or refused."""

    def __init__(self, *, keeps_cookies: bool = True) -> None:
        self.client = Client(enforce_csrf_checks=True)
        self.keeps_cookies = keeps_cookies

    def get(self, path: str) -> Answer:
        return self._read(self.client.get(path))

    def post(self, path: str, fields: dict[str, str | list[str]]) -> Answer:
        return self._read(self.client.post(path, fields))

    def _read(self, response) -> Answer:  # type: ignore[no-untyped-def]
        if not self.keeps_cookies:
            self.client.cookies.clear()
        return Answer(
            response.status_code, response.content.decode(), response.headers.get("Location", "")
        )


class OverHttp:
    """One kept-alive connection to a running server; cookies are refused."""

    def __init__(self, host: str, port: int, *, timeout: float = 60) -> None:
        self.connection = http.client.HTTPConnection(host, port, timeout=timeout)

    def get(self, path: str) -> Answer:
        return self._ask("GET", path, None)

    def post(self, path: str, fields: dict[str, str | list[str]]) -> Answer:
        return self._ask("POST", path, urlencode(fields, doseq=True))

    def _ask(self, method: str, path: str, body: str | None) -> Answer:
        headers = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
        self.connection.request(method, path, body=body, headers=headers)
        response = self.connection.getresponse()
        html = response.read().decode()
        return Answer(response.status, html, response.getheader("Location", "") or "")

    def close(self) -> None:
        self.connection.close()


@dataclass
class Person:
    """Somebody who takes part. ``rate(group, scale)`` gives ratings in the scale's own direction.

    ``recalls_group`` is what they type when they are asked for the group just rated.
    """

    connection: Connection
    rate: Rate
    recalls_group: Callable[[str], str] = lambda group: group
    rated: list[str] = field(default_factory=list)
    path: str = ""

    def start(self, landing: str) -> Answer:
        """Open a study's link and press the button; `path` is the visit's own page afterwards."""
        shown = self.connection.get(landing)
        if shown.status != 200:
            return shown
        started = self.connection.post(shown.page.action, dict(shown.page.fields))
        if started.status == 302:
            self.path = started.location
        return started

    def see(self) -> Answer:
        return self.connection.get(self.path)

    def fill(self, page: SurveyPage) -> dict[str, str | list[str]]:
        """Return everything that the page's form sends."""
        sent: dict[str, str | list[str]] = dict(page.fields)
        if "practice-1" in page.lines:
            for line in page.lines:
                sent |= {f"value-{line}": "30", f"touched-{line}": "1"}
        elif "answer" in page.lines:
            sent |= {"value-answer": "70", "touched-answer": "1"}
        elif "number" in page.inputs:
            sent["number"] = "3"
        elif any(name.startswith("row-") for name in page.options):
            sent |= {name: found[-1] for name, found in page.options.items()}
        elif any(name.startswith("place-") for name in page.options):
            sent |= {name: str(n) for n, name in enumerate(sorted(page.options), start=1)}
        elif page.lines:
            if page.group not in self.rated:
                self.rated.append(page.group)
            self._last, self._lines = page.group, page.lines
            for scale, (left, right) in page.lines.items():
                value = self.rate(page.group, scale)
                # The slug names low pole and high pole; where the page turns them, so do we.
                sent[f"value-{scale}"] = str(value if scale == f"{left}-{right}" else 100 - value)
                sent[f"touched-{scale}"] = "1"
        elif "agree" in page.inputs:
            sent |= {"agree": "yes"}
        elif "group-name" in page.inputs:
            sent["group-name"] = self.recalls_group(self._last)
        elif "near" in page.options:
            sent["near"] = max(page.options["near"], key=self._nearness)
            sent["far"] = min(page.options["far"], key=self._nearness)
        elif "near" in page.inputs:
            sent |= {"near": self._word(max), "far": self._word(min)}
        elif "answer-age" in page.inputs:
            sent["answer-age"] = "37"
        return sent

    def send(self, page: SurveyPage, **changes: str | list[str]) -> Answer:
        return self.connection.post(page.action, {**self.fill(page), **changes})

    def go_on(self, *, until: Callable[[SurveyPage], bool] = lambda page: False) -> SurveyPage:
        """Answer page after page; return the first one without a form or that ``until`` wants."""
        while True:
            page = self.see().page
            if not page.fields.get("step") or until(page):
                return page
            answer = self.send(page)
            assert answer.status == 302, (answer.status, answer.page.text)

    def _word(self, best: Callable[..., str]) -> str:
        """A word that the group just rated was placed near (``max``) or far from (``min``)."""
        words = {}
        for scale, (left, right) in self._lines.items():
            low, high = (left, right) if scale == f"{left}-{right}" else (right, left)
            words |= {low: f"{scale}:low", high: f"{scale}:high"}
        return best(words, key=lambda word: self._nearness(words[word]))

    def _nearness(self, option: str) -> int:
        scale, _, pole = option.rpartition(":")
        value = self.rate(self._last, scale)
        return value if pole == "high" else 100 - value


def spread(group: str, scale: str) -> int:
    """Ratings that differ between groups and scales, marked on most scales, never in doubt."""
    return (7 * len(group) + 13 * len(scale) + 31 * ord(scale[0]) + 17 * ord(group[0])) % 101
