"""Reads a page of the survey as a browser would: its heading, its form, its lines and options."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser


@dataclass
class SurveyPage:
    """What a simulated participant can see and send. ``fields`` are the hidden ones to send back.

    ``lines`` maps a scale's slug to the words at its left and right end, ``options`` a field's name
    to the values that can be chosen.
    """

    title: str = ""
    heading: str = ""
    framed: str = ""
    action: str = ""
    text: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    inputs: set[str] = field(default_factory=set)
    lines: dict[str, tuple[str, str]] = field(default_factory=dict)
    options: dict[str, list[str]] = field(default_factory=dict)

    @property
    def group(self) -> str:
        """The group that the question names: the heading without its frame and question mark."""
        return self.heading.removeprefix(self.framed).strip().removesuffix("?")


def read_page(html: str) -> SurveyPage:
    reader = _Reader()
    reader.feed(html)
    page = reader.page
    page.heading = " ".join(page.heading.split())
    page.framed = " ".join(page.framed.split())
    page.text = " ".join(page.text.split())
    return page


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = SurveyPage()
        self.open: list[str] = []
        self.hidden = 0
        self.select = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag in {"template", "script", "style"}:
            self.hidden += 1
        if self.hidden:
            return
        if tag in {"h1", "title"} or (tag == "span" and values.get("class") == "frame"):
            self.open.append("frame" if tag == "span" else tag)
        if tag == "form":
            self.page.action = values.get("action", "")
        if "data-line" in values:
            self.page.lines[values["data-line"]] = (values["data-left"], values["data-right"])
        if tag == "input" and values.get("name"):
            self._read_input(values)
        if tag == "select" and values.get("name"):
            self.page.inputs.add(values["name"])
            self.select = values["name"]
        if tag == "option" and self.select:
            self.page.options.setdefault(self.select, []).append(values.get("value", ""))

    def _read_input(self, values: dict[str, str]) -> None:
        name, kind = values["name"], values.get("type", "text")
        self.page.inputs.add(name)
        if kind == "hidden":
            self.page.fields[name] = values.get("value", "")
        elif kind in {"radio", "checkbox"}:
            self.page.options.setdefault(name, []).append(values.get("value", "on"))

    def handle_endtag(self, tag: str) -> None:
        if tag in {"template", "script", "style"}:
            self.hidden -= 1
        if tag in {"h1", "title"} and tag in self.open:
            self.open.remove(tag)
        if tag == "span" and self.open and self.open[-1] == "frame":
            self.open.pop()
        if tag == "select":
            self.select = ""

    def handle_data(self, data: str) -> None:
        if self.hidden:
            return
        self.page.text += data
        if "title" in self.open:
            self.page.title += data
        if "h1" in self.open:
            self.page.heading += data
        if self.open and self.open[-1] == "frame":
            self.page.framed += data
