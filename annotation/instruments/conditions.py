"""Conditions of steps: a small grammar over what is known of a visit before the step.

    {"step": "key", "is": "value"}            a choice, or a check: passed, failed, not_asked
    {"step": "key", "any_of": ["a", "b"]}
    {"question": "slug", "is": "Woman"}       a demographic answer, as it is stored
    {"question": "age", "at_least": 30}       a number; "at_most" too, both inclusive
    {"visit": "language", "is": "es"}
    {"all": […]}  {"any": […]}  {"not": {…}}

What was not asked, left out or declined meets no comparison, so that “not” of it holds. Of a
question with several answers, “is” holds if the value is among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from annotation.steps.texts import check_characters

CHECK_RESULTS = {True: "passed", False: "failed", None: "not_asked"}
SOURCES = ("step", "question", "visit")
VISIT_FACTS = ("language", "arm")
MAX_DEPTH = 4
MAX_PARTS = 20


class ConditionError(ValueError):
    """A condition that cannot be read; the message says what was found and what is expected."""


@dataclass(frozen=True)
class Known:
    """What is known of a visit: values by step key and by question, numbers as numbers."""

    steps: Mapping[str, frozenset[str | float]] = field(default_factory=dict)
    questions: Mapping[str, frozenset[str | float]] = field(default_factory=dict)
    language: str = ""
    arm: str = ""

    def find(self, source: str, name: str) -> frozenset[str | float]:
        if source == "step":
            return self.steps.get(name, frozenset())
        if source == "question":
            return self.questions.get(name, frozenset())
        return frozenset({self.language if name == "language" else self.arm}) - {""}


@dataclass(frozen=True)
class OneOf:
    """Whether one of ``values`` is the answer, or among the answers."""

    source: str
    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Within:
    """Whether the answer is a number between the limits, both inclusive; None is no limit."""

    name: str
    at_least: float | None
    at_most: float | None
    source: str = "question"


@dataclass(frozen=True)
class All:
    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class AnyPart:
    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    part: Condition


Condition = OneOf | Within | All | AnyPart | Not


def holds(condition: Condition, known: Known) -> bool:
    """Return whether ``condition`` is met by what is known."""
    match condition:
        case All(parts):
            return all(holds(part, known) for part in parts)
        case AnyPart(parts):
            return any(holds(part, known) for part in parts)
        case Not(part):
            return not holds(part, known)
        case OneOf(source, name, values):
            return any(str(answer) in values for answer in known.find(source, name))
        case Within(name, at_least, at_most, source):
            return any(
                isinstance(answer, int | float)
                and (at_least is None or answer >= at_least)
                and (at_most is None or answer <= at_most)
                for answer in known.find(source, name)
            )


def parse_condition(data: object, *, depth: int = 0) -> Condition:
    """Return the condition that ``data`` writes. Raises `ConditionError`."""
    if not isinstance(data, dict):
        raise ConditionError(f"A condition is “{_short(data)}”, expected an object.")
    if depth >= MAX_DEPTH:
        raise ConditionError(f"Conditions are nested deeper than {MAX_DEPTH} levels.")
    keys = set(data)
    if keys == {"all"} or keys == {"any"}:
        (name,) = keys
        parts = data[name]
        if not isinstance(parts, list) or not 1 <= len(parts) <= MAX_PARTS:
            raise ConditionError(f"“{name}” needs a list of 1 to {MAX_PARTS} conditions.")
        read = tuple(parse_condition(part, depth=depth + 1) for part in parts)
        return All(read) if name == "all" else AnyPart(read)
    if keys == {"not"}:
        return Not(parse_condition(data["not"], depth=depth + 1))
    return _parse_comparison(data)


def iterate_comparisons(condition: Condition) -> Iterator[OneOf | Within]:
    """Yield the comparisons of a condition from left to right."""
    match condition:
        case All(parts) | AnyPart(parts):
            for part in parts:
                yield from iterate_comparisons(part)
        case Not(part):
            yield from iterate_comparisons(part)
        case OneOf() | Within():
            yield condition


def _parse_comparison(data: dict[object, object]) -> OneOf | Within:
    sources = [source for source in SOURCES if source in data]
    if len(sources) != 1:
        raise ConditionError(
            "A condition has the keys "
            f"{', '.join(f'“{_short(key)}”' for key in sorted(data, key=str)) or 'none'}, expected "
            "“step”, “question” or “visit” with a comparison, or “all”, “any” or “not”."
        )
    source, name = sources[0], data[sources[0]]
    if not isinstance(name, str) or not name:
        raise ConditionError(f"“{source}” is “{_short(name)}”, expected a name.")
    _storable(name)
    if source == "visit" and name not in VISIT_FACTS:
        raise ConditionError(f"“visit” is “{_short(name)}”, expected “language” or “arm”.")
    how = set(data) - {source}
    if how == {"is"}:
        return OneOf(source, name, (_read_value(data["is"]),))
    if how == {"any_of"}:
        values = data["any_of"]
        if not isinstance(values, list) or not 1 <= len(values) <= 100:
            raise ConditionError("“any_of” needs a list of values.")
        return OneOf(source, name, tuple(_read_value(value) for value in values))
    if source != "visit" and how and how <= {"at_least", "at_most"}:
        return Within(
            name,
            at_least=_read_number(data, "at_least"),
            at_most=_read_number(data, "at_most"),
            source=source,
        )
    raise ConditionError(
        f"The condition on “{name}” compares by {', '.join(sorted(map(str, how))) or 'nothing'}, "
        "expected “is” or “any_of”, or for a number “at_least” or “at_most”."
    )


def _read_value(value: object) -> str:
    if not isinstance(value, str) or not value or len(value) > 300:
        raise ConditionError(f"A value is “{_short(value)}”, expected a text.")
    return _storable(value)


def _storable(text: str) -> str:
    try:
        return check_characters(text)
    except ValueError as error:
        raise ConditionError(str(error)) from error


def _read_number(data: dict[object, object], name: str) -> float | None:
    value = data.get(name)
    if name not in data:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e9:
        raise ConditionError(f"“{name}” is “{_short(value)}”, expected a number.")
    return value


def _short(value: object) -> str:
    return str(value)[:60]
