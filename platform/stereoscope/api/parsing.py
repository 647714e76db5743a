"""JSON that the API takes: not deeper than anything it asks for, and text that can be stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

DEEPEST = 50


class StoredJSONParser(JSONParser):
    """Answers 400 to nesting beyond 50 levels and to halves of surrogate pairs."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            content = super().parse(stream, media_type, parser_context)
        except RecursionError as error:
            raise ParseError(f"The JSON is nested deeper than {DEEPEST} levels.") from error
        _check(content)
        return content


def _check(content: Any) -> None:
    """Look at every value, without recursion."""
    waiting = [(content, 1)]
    while waiting:
        value, depth = waiting.pop()
        if depth > DEEPEST:
            raise ParseError(f"The JSON is nested deeper than {DEEPEST} levels.")
        if isinstance(value, str):
            _check_text(value)
        elif isinstance(value, dict):
            for key, part in value.items():
                _check_text(key)
                waiting.append((part, depth + 1))
        elif isinstance(value, list):
            waiting.extend((part, depth + 1) for part in value)


def _check_text(text: str) -> None:
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ParseError("The JSON holds half of a surrogate pair, which is no character.")
