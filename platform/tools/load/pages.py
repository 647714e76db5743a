"""What a participant needs of a page of the survey, found by patterns: parsing would cost more."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass

ACTION = re.compile(r'<form method="post" action="([^"]*)"')
HIDDEN = re.compile(r'<input type="hidden" name="([^"]*)" value="([^"]*)"')
HEADING = re.compile(r"<h1>(.*?)</h1>", re.DOTALL)
FRAME = re.compile(r'<span class="frame">.*?</span>', re.DOTALL)
LINE = re.compile(r'data-line="([^"]*)" data-left="([^"]*)" data-right="([^"]*)"')
CHOICE = re.compile(r'<input type="radio" name="(near|far)" value="([^"]*)"')


@dataclass(frozen=True, slots=True)
class Line:
    """A line between two words, ``key`` is its scale."""

    key: str
    left: str
    right: str

    @property
    def flipped(self) -> bool:
        """Whether the high pole is on the left: a scale is called by its low and high pole."""
        return self.key != f"{self.left}-{self.right}"


@dataclass(frozen=True, slots=True)
class Page:
    """``hidden`` are the fields to send back as they are."""

    html: str
    action: str
    hidden: dict[str, str]

    @property
    def is_step(self) -> bool:
        return "step" in self.hidden

    @property
    def group(self) -> str:
        """The group that the question names: the heading without its frame."""
        found = HEADING.search(self.html)
        if found is None:
            return ""
        return html.unescape(FRAME.sub("", found[1])).strip().removesuffix("?").strip()

    @property
    def lines(self) -> list[Line]:
        return [Line(*map(html.unescape, found)) for found in LINE.findall(self.html)]

    def asks(self, field: str) -> bool:
        return f'name="{field}"' in self.html

    def choices(self, field: str) -> list[str]:
        """Return the words offered by one list of the check of marked traits."""
        return [html.unescape(value) for name, value in CHOICE.findall(self.html) if name == field]


def read_page(text: str) -> Page:
    action = ACTION.search(text)
    return Page(
        text,
        html.unescape(action[1]) if action else "",
        {name: html.unescape(value) for name, value in HIDDEN.findall(text)},
    )
