"""What a new step begins with: complete content, to be rewritten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from annotation.instruments.known_texts import load_known
from annotation.instruments.step_kinds import StepKind

AGREEMENT = (
    ("strongly-disagree", "Strongly disagree"),
    ("somewhat-disagree", "Somewhat disagree"),
    ("somewhat-agree", "Somewhat agree"),
    ("strongly-agree", "Strongly agree"),
)


def _options(*options: tuple[str, str]) -> list[dict[str, Any]]:
    return [{"value": value, "text": {"en": text}} for value, text in options]


DEFAULT_CONTENT: dict[StepKind, dict[str, Any]] = {
    StepKind.PAGE: {
        "title": {"en": "Before you go on"},
        "body": {"en": "Please read this page, then continue."},
    },
    StepKind.PRACTICE: {
        "question": {"en": "What is the weather in summer like?"},
        "lead": {
            "en": "This page is for practice, and nothing on it is kept. Choose where your answer "
            "belongs on each line, with a finger, the mouse or the arrow keys. You can move the "
            "marker until you continue."
        },
        "lines": [
            {"left": {"en": "cloudy"}, "right": {"en": "sunny"}},
            {"left": {"en": "dry"}, "right": {"en": "wet"}},
        ],
    },
    StepKind.INSTRUCTED: {
        "question": {
            "en": "People read surveys in many ways. Choose “Somewhat disagree” to show that you "
            "read this."
        },
        "options": _options(*AGREEMENT),
        "expected": "somewhat-disagree",
    },
    StepKind.NONSENSICAL: {
        "question": {"en": "I have crossed the Atlantic Ocean on foot."},
        "options": _options(*AGREEMENT),
        "accepted": ["strongly-disagree", "somewhat-disagree"],
    },
    StepKind.COMPREHENSION: {
        "question": {"en": "Whose view of the groups are you asked for?"},
        "options": _options(
            ("my-own", "My own view"),
            ("people-in-america", "The view of people in America"),
            ("the-groups", "The view of the groups themselves"),
        ),
        "right": "people-in-america",
        "on_failure": "go_on",
    },
    StepKind.CHOICE: {
        "question": {"en": "How did you answer this survey?"},
        "options": _options(
            ("phone", "On a phone"), ("tablet", "On a tablet"), ("computer", "On a computer")
        ),
        "several": False,
        "required": True,
    },
    StepKind.SLIDER: {
        "question": {"en": "How sure are you of your answers?"},
        "low": {"en": "not at all sure"},
        "high": {"en": "entirely sure"},
        "minimum": 0,
        "maximum": 100,
        "step": 1,
        "required": True,
    },
    StepKind.NUMBER: {
        "question": {"en": "How many people live in your household?"},
        "help": {"en": "Count yourself, too."},
        "minimum": 1.0,
        "maximum": 30.0,
        "integer": True,
        "required": True,
    },
    StepKind.MATRIX: {
        "question": {"en": "How far do you agree with each statement?"},
        "rows": _options(
            ("questions-clear", "The questions were clear."),
            ("groups-familiar", "I knew the groups that I was asked about."),
        ),
        "points": _options(*AGREEMENT),
        "random_order": False,
        "required": True,
    },
    StepKind.RANKING: {
        "question": {"en": "Where do you learn most about other groups of people?"},
        "help": {"en": "Put the most important first."},
        "items": _options(
            ("people-i-know", "From people I know"),
            ("news", "From the news"),
            ("films-and-series", "From films and series"),
        ),
        "random_order": True,
        "required": True,
    },
    StepKind.FREE_TEXT: {
        "question": {"en": "Is there anything that you want to tell us?"},
        "required": False,
        "long": True,
        "max_characters": 1000,
    },
}


def default_content(kind: StepKind, languages: Sequence[str]) -> dict[str, Any] | None:
    """Return what a step begins with in those of ``languages`` that the platform brings along."""
    content = DEFAULT_CONTENT.get(kind)
    return None if content is None else _translate(content, languages)


def _translate(value: Any, languages: Sequence[str]) -> Any:
    if isinstance(value, list):
        return [_translate(item, languages) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) != {"en"}:
        return {name: _translate(part, languages) for name, part in value.items()}
    text = value["en"]
    others = {code: load_known(code).get(text, "") for code in languages if code != "en"}
    return {"en": text, **{code: known for code, known in others.items() if known}}
