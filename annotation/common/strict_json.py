"""JSON as it was meant: not deeper than anything that is asked for, and text that can be stored."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn

DEEPEST = 50


class JsonRefused(ValueError):  # noqa: N818 - an answer, not a fault
    """The JSON would be read otherwise than it was meant; the message says where."""


def read_strict_json(text: str) -> Any:
    """Return what a JSON text holds.

    Raises `JsonRefused` for what is no JSON, nesting beyond 50 levels, halves of surrogate pairs, a
    name that stands twice in an object, and numbers beyond what can be stored, which Python would
    read as infinite.
    """
    try:
        content = json.loads(
            text,
            parse_constant=_refuse,
            parse_float=_read_float,
            object_pairs_hook=_read_object,
        )
    except JsonRefused:
        raise
    except ValueError as error:
        raise JsonRefused(f"The body is not JSON: {str(error)[:200]}.") from error
    except RecursionError as error:
        raise JsonRefused(f"The JSON is nested deeper than {DEEPEST} levels.") from error
    _check(content)
    return content


def _refuse(constant: str) -> NoReturn:
    raise JsonRefused(f"The JSON holds {constant}, which is no number.")


def _read_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise JsonRefused(f"The JSON holds {text[:40]}, a number beyond what can be stored.")
    return value


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _value in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise JsonRefused(f"“{twice[:40]}” stands twice in one object of the JSON.")
    return found


def _check(content: Any) -> None:
    """Look at every value, without recursion."""
    waiting = [(content, 1)]
    while waiting:
        value, depth = waiting.pop()
        if depth > DEEPEST:
            raise JsonRefused(f"The JSON is nested deeper than {DEEPEST} levels.")
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
        raise JsonRefused("The JSON holds half of a surrogate pair, which is no character.")
