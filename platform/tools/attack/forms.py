"""Reads the forms of a page as a browser would, to send them back with other texts."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

TYPED_INTO = frozenset(
    {"text", "search", "number", "date", "datetime-local", "email", "url", "password"}
)


@dataclass
class Form:
    """``fields`` are sent as they are, ``texts`` are typed into, ``files`` are chosen."""

    action: str
    is_post: bool
    fields: list[tuple[str, str]] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


def read_forms(html: str) -> list[Form]:
    """Return the forms of a page that are sent by POST."""
    reader = _Reader()
    reader.feed(html)
    return [form for form in reader.forms if form.is_post]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self.form: Form | None = None
        self.by_id: dict[str, Form] = {}
        self.select = self.textarea = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.form = Form(values.get("action", ""), values.get("method", "").lower() == "post")
            self.by_id[values.get("id", "")] = self.form
            self.forms.append(self.form)
        form = self.by_id.get(values["form"]) if values.get("form") else self.form
        name = values.get("name", "")
        if tag == "option" and form is not None and self.select and "selected" in values:
            form.fields.append((self.select, values.get("value", "")))
        if form is None or not name or "disabled" in values:
            return
        if tag == "input":
            _read_input(form, name, values)
        elif tag == "select":
            self.select = name
        elif tag == "textarea":
            self.textarea = name
            form.texts[name] = ""

    def handle_data(self, data: str) -> None:
        if self.textarea and self.form is not None:
            self.form.texts[self.textarea] = self.form.texts.get(self.textarea, "") + data

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self.form = None
        if tag == "select":
            self.select = ""
        if tag == "textarea":
            self.textarea = ""


def _read_input(form: Form, name: str, values: dict[str, str]) -> None:
    kind = values.get("type", "text").lower()
    if kind == "file":
        form.files.append(name)
    elif kind in TYPED_INTO:
        form.texts[name] = values.get("value", "")
    elif kind == "hidden" or (kind in {"radio", "checkbox"} and "checked" in values):
        form.fields.append((name, values.get("value", "on")))
