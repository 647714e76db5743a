"""Reads published answers about participants: person → question → answer.

Only counts leave this module: what one person said to two questions is not joined.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from annotation.common.small_cells import DECLINED, UNANSWERED, Answers
from annotation.imports.abc_file import AbcFileError
from annotation.studies.participant_answers import AnsweredBy, SummaryQuestion

Kind = Literal["choice", "choices", "number"]

#: The file's names → slug of the default question with the same content, its label and kind.
QUESTIONS: dict[str, tuple[str, str, Kind]] = {
    "Gender": ("gender", "Gender", "choice"),
    "Age": ("age", "Age", "number"),
    "Race": ("race", "Race or ethnicity", "choices"),
    "Education": ("education", "Education", "choice"),
    "State": ("state", "State", "choice"),
    "Years lived in the state": ("years-in-state", "Years lived in the state", "number"),
    "Territory": ("area", "Kind of area", "choice"),
}
PREFER_NOT = "prefer not to say"
# Answers are joined by a bare comma; one with a space after it belongs to an answer.
BETWEEN_ANSWERS = re.compile(r",(?! )")
LONGEST_ANSWER = 120
SHOWN_PROBLEMS = 5


@dataclass(frozen=True)
class PublishedParticipants:
    n_people: int
    questions: list[SummaryQuestion]


def parse_demographics(content: bytes) -> PublishedParticipants:
    """Return counts per question; `AbcFileError` names the first bad places of the file."""
    people = _load(content)
    problems: list[str] = []
    counts: dict[str, Counter[Answers]] = {name: Counter() for name in QUESTIONS}
    for number, answers in enumerate(people.values(), start=1):
        # A person is named by place: an id has no business in a message.
        where = f"person {number}"
        if not isinstance(answers, dict):
            problems.append(f"{where}: expected an object of questions")
            continue
        problems += [
            f"{where}: “{str(name)[:60]}” is no question known here"
            for name in answers
            if name not in QUESTIONS
        ]
        for name, (_, _, kind) in QUESTIONS.items():
            try:
                counts[name][_read(answers.get(name), kind)] += 1
            except ValueError as error:
                problems.append(f"{where}, {name}: {error}")
    if problems:
        more = len(problems) - SHOWN_PROBLEMS
        raise AbcFileError(
            "The file of participants has bad places, nothing was imported: "
            + "; ".join(problems[:SHOWN_PROBLEMS])
            + (f"; and {more} more" if more > 0 else "")
            + f". Questions known here: {', '.join(QUESTIONS)}."
        )
    return PublishedParticipants(
        n_people=len(people),
        questions=[
            SummaryQuestion(
                slug=slug,
                label=label,
                kind=kind,
                people=[
                    AnsweredBy(answers=sorted(given), n=n)
                    for given, n in sorted(counts[name].items(), key=lambda row: sorted(row[0]))
                ],
            )
            for name, (slug, label, kind) in QUESTIONS.items()
        ],
    )


def _load(content: bytes) -> dict[str, Any]:
    try:
        loaded = json.loads(content.decode("utf-8-sig"), object_pairs_hook=_without_repeats)
    except UnicodeDecodeError as error:
        raise AbcFileError(
            f"The file of participants is not UTF-8 text: byte {error.start + 1} is not valid."
        ) from error
    except json.JSONDecodeError as error:
        raise AbcFileError(
            f"The file of participants is not JSON: line {error.lineno}, column {error.colno}: "
            f"{error.msg}."
        ) from error
    if not isinstance(loaded, dict) or not loaded:
        raise AbcFileError("The file of participants holds nobody, expected a JSON object of them.")
    return loaded


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise AbcFileError("The file of participants names somebody or a question twice.")
    return found


def _read(value: object, kind: Kind) -> Answers:
    if value is None or (isinstance(value, str) and not value.strip()):
        return frozenset({UNANSWERED})
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ValueError("expected a text or a whole number")
    text = str(value).strip()
    if len(text) > LONGEST_ANSWER:
        raise ValueError(f"{len(text)} characters, expected at most {LONGEST_ANSWER}")
    parts = BETWEEN_ANSWERS.split(text) if kind == "choices" else [text]
    parts = [part.strip() for part in parts if part.strip()]
    if any(part.lower() == PREFER_NOT for part in parts):
        return frozenset({DECLINED})
    if kind == "number" and not re.fullmatch(r"[0-9]{1,3}", text):
        raise ValueError(f"“{text[:20]}”, expected a whole number")
    return frozenset(parts)
