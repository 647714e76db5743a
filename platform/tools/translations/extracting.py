"""Finds the texts that participants and annotators can read, in templates and in Python.

Templates are compiled by Django itself, so that a text is found exactly as it is looked up later.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.template import engines
from django.template.base import FilterExpression
from django.templatetags.i18n import BlockTranslateNode, TranslateNode

ROOT = Path(__file__).resolve().parents[3]
STEPS = ROOT / "annotation/steps"
FUNCTIONS = {"_", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy", "pgettext"}
# What participants can come to see; researchers' own pages stay in English.
PARTICIPANTS = (
    "annotation/steps",
    "annotation/survey",
    "annotation/common/money.py",
    "annotation/instruments/checks",
    *(
        f"annotation/instruments/{name}.py"
        for name in (
            "conditions",
            "content",
            "default_wording",
            "domains",
            "flow",
        )
    ),
    "annotation/panels/base.py",
    "annotation/panels/registry.py",
    "annotation/models/study.py",
    "annotation/panels/prolific.py",
    "annotation/templatetags/survey_dates.py",
    "templates/survey",
    *(f"templates/{code}.html" for code in ("400", "403", "403_csrf", "404", "409", "500", "503")),
)
# In the same folders, but for researchers alone.
RESEARCHERS_ALONE = {
    "annotation/survey/preview.py",
}
# Of these files, only what participants can come to see: the titles of panels.
PARTICIPANTS_TEXTS = {
    "annotation/models/study.py": {"Any link", "Survey code (Mechanical Turk)"},
}
RESEARCHERS_TEXTS = {
    "This panel has no API: payments go by its own pages.",
    "“{%(name)s}” is unknown, expected {code} or {id}.",
    "“%(value)s” is no address, expected one such as https://panel.example/end.",
}


@dataclass(frozen=True, order=True)
class Message:
    """A text as it is looked up; ``plural`` is "" where it does not count anything."""

    text: str
    plural: str = ""
    context: str = ""


def find_messages(sources: Iterable[str] = PARTICIPANTS) -> dict[Message, list[str]]:
    """Return every message with the files that hold it, in the order of files and lines."""
    found: dict[Message, list[str]] = {}
    for file in _list_files(sources):
        name = file.relative_to(ROOT).as_posix()
        read = _read_template if file.suffix == ".html" else _read_module
        for message in read(file):
            if message.text in RESEARCHERS_TEXTS:
                continue
            if message.text not in PARTICIPANTS_TEXTS.get(name, {message.text}):
                continue
            places = found.setdefault(message, [])
            if name not in places:
                places.append(name)
    return found


def _list_files(sources: Iterable[str]) -> Iterator[Path]:
    for source in sources:
        place = ROOT / source
        files = sorted(place.rglob("*")) if place.is_dir() else [place]
        for file in files:
            name = file.relative_to(ROOT).as_posix()
            if file.suffix in {".py", ".html"} and name not in RESEARCHERS_ALONE:
                yield file


def _read_template(file: Path) -> Iterator[Message]:
    compiled: Any = engines["django"].from_string(file.read_text(encoding="utf-8"))
    nodes = compiled.template.nodelist
    for node in nodes.get_nodes_by_type(TranslateNode):
        if text := _constant(node.filter_expression):
            yield Message(text, context=_constant(node.message_context))
    for node in nodes.get_nodes_by_type(BlockTranslateNode):
        singular, _names = node.render_token_list(node.singular)
        plural = node.render_token_list(node.plural)[0] if node.plural else ""
        if node.trimmed:
            singular, plural = _trim(singular), _trim(plural)
        yield Message(singular, plural, _constant(node.message_context))


def _constant(expression: FilterExpression | None) -> str:
    """Return the text that a tag was given in quotation marks, "" for a variable."""
    variable = getattr(expression, "var", None)
    literal = getattr(variable, "literal", variable)
    return literal if isinstance(literal, str) else ""


def _trim(text: str) -> str:
    return " ".join(line.strip() for line in text.strip().splitlines())


def _list_nodes(file: Path) -> Iterator[ast.AST]:
    """Yield what participants can come to see. Of a kind of step these are functions alone: what
    the designer says of it and its fields, researchers read."""
    found = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
    if file.parent != STEPS:
        yield from found
    for node in found:
        if isinstance(node, ast.FunctionDef):
            yield from (part for statement in node.body for part in ast.walk(statement))


def _read_module(file: Path) -> Iterator[Message]:
    for node in _list_nodes(file):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        texts = [
            argument.value
            for argument in node.args
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
        ]
        if node.func.id not in FUNCTIONS or not texts:
            continue
        if node.func.id == "pgettext":
            yield Message(texts[1], context=texts[0])
        elif node.func.id.startswith("ngettext"):
            yield Message(texts[0], texts[1])
        else:
            yield Message(texts[0])
