"""What an answer in words says: a number, a refusal, or nothing that can be read."""

from __future__ import annotations

import re
from typing import Literal

from probing.lm.question_protocols import Answer

Outcome = Literal["answered", "refused", "unreadable"]

_NUMBER = re.compile(r"(?<![\w.])[-−]?\d+(?:[.,]\d+)?")
#: “57/100”, “57 out of 100”, “57 %”, “0 to 100”: the scale itself is no answer.
_OF_SCALE = re.compile(r"\s*(?:/|out of|of)\s*100\b|\s*%", re.IGNORECASE)
_SCALE = re.compile(r"\b(?:from\s+)?0\s*(?:to|–|-|and)\s*100\b", re.IGNORECASE)
#: How models say that they will not answer; looked for only where no answer is found.
_REFUSALS = re.compile(
    r"\b(?:i(?:['’]m| am)? (?:can(?:no|['’])t|cannot|won['’]t|will not|(?:am |['’]m )?not able|"
    r"unable|do not feel|don['’]t feel|do not think it|don['’]t think it|refuse|decline|"
    r"must decline)|i(?:['’]m| am) (?:sorry|unable|not able|not comfortable)|as an ai|"
    r"as a language model|not appropriate|inappropriate|harmful stereotype|"
    r"lo siento|no puedo|como (?:una )?(?:ia|inteligencia artificial))",
    re.IGNORECASE,
)


def read_number(text: str, *, low: float = 0, high: float = 100) -> float | None:
    """Return the one number from `low` to `high` that an answer gives; None for none or several.

    The same number twice counts once. A number outside the range is no answer.
    """
    plain = _OF_SCALE.sub(" ", _SCALE.sub(" ", text))
    found = {float(one.replace("−", "-").replace(",", ".")) for one in _NUMBER.findall(plain)}
    if len(found) != 1:
        return None
    (value,) = found
    return value if low <= value <= high else None


def is_refusal(answer: Answer) -> bool:
    """Return whether a server or the words themselves refuse; for answers without an answer."""
    return answer.finish == "refused" or _REFUSALS.search(answer.text) is not None


def outcome_of(answer: Answer, *, readable: bool) -> Outcome:
    """Return how an answer ended, given whether it could be read."""
    if answer.finish == "refused":
        return "refused"
    if readable:
        return "answered"
    return "refused" if is_refusal(answer) else "unreadable"
