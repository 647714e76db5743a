"""Items of flows for tests: one of every kind that brings content along."""

from __future__ import annotations

from typing import Any


def texts(text: str, **others: str) -> dict[str, str]:
    return {"en": text, **others}


def options(*values: str) -> list[dict[str, Any]]:
    return [{"value": value, "text": texts(value.replace("-", " "))} for value in values]


def practice(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "practice",
        "question": texts("How is the weather in summer?"),
        "lead": texts("Tap each line where your answer belongs. Nothing here is kept."),
        "lines": [
            {"left": texts("cold"), "right": texts("warm")},
            {"left": texts("dry"), "right": texts("wet")},
        ],
        **changes,
    }


def page(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "page",
        "title": texts("A word before"),
        "body": texts("Read *this*.\n\n- one\n- two"),
        **changes,
    }


def choice(key: str = "heard", **changes: Any) -> dict[str, Any]:
    return {
        "kind": "choice",
        "key": key,
        "question": texts("Where did you hear of this study?", es="¿Dónde oyó hablar de esto?"),
        "options": options("friend", "panel", "other"),
        **changes,
    }


def free_text(key: str = "thoughts", **changes: Any) -> dict[str, Any]:
    return {"kind": "free_text", "key": key, "question": texts("What did you think?"), **changes}


def slider(key: str = "sure", **changes: Any) -> dict[str, Any]:
    return {
        "kind": "slider",
        "key": key,
        "question": texts("How old does a person have to be to be called old?"),
        "low": texts("young"),
        "high": texts("old"),
        "unit": texts("years"),
        "minimum": 20,
        "maximum": 120,
        "step": 5,
        **changes,
    }


def number(key: str = "household", **changes: Any) -> dict[str, Any]:
    return {
        "kind": "number",
        "key": key,
        "question": texts("How many people live in your household?"),
        "unit": texts("people"),
        "minimum": 1,
        "maximum": 30,
        **changes,
    }


def matrix(key: str = "views", **changes: Any) -> dict[str, Any]:
    return {
        "kind": "matrix",
        "key": key,
        "question": texts("How far do you agree?"),
        "rows": options("it-was-clear", "it-was-long"),
        "points": options("disagree", "neither", "agree"),
        **changes,
    }


def ranking(key: str = "sources", **changes: Any) -> dict[str, Any]:
    return {
        "kind": "ranking",
        "key": key,
        "question": texts("Where do you learn about other groups?"),
        "items": options("friends", "news", "films"),
        **changes,
    }


def instructed(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "instructed",
        "key": "read-this",
        "question": texts("Choose “somewhat disagree” to show that you read this."),
        "options": options("agree", "somewhat-disagree", "disagree"),
        "expected": "somewhat-disagree",
        **changes,
    }


def nonsensical(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "nonsensical",
        "key": "teleport",
        "question": texts("I went to the moon by bicycle last week."),
        "options": options("yes", "no", "not-sure"),
        "accepted": ["no", "not-sure"],
        **changes,
    }


def comprehension(**changes: Any) -> dict[str, Any]:
    return {
        "kind": "comprehension",
        "key": "whose-view",
        "question": texts("Whose view are you asked for?"),
        "options": options("my-own", "people-in-america"),
        "right": "people-in-america",
        **changes,
    }


def every_kind() -> list[Any]:
    """A flow with each kind of step, two rating pages among them."""
    return [
        "consent",
        "instructions",
        comprehension(),
        page(),
        practice(),
        "rating",
        "group_name",
        "rating",
        "marked_traits",
        "typed_traits",
        "repeat",
        instructed(),
        nonsensical(),
        choice(),
        free_text(required=True),
        slider(),
        number(),
        matrix(),
        ranking(),
        "demographics",
        "debrief",
    ]
