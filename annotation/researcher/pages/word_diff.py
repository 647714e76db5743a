"""What changed from one text to another, word by word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_WORD = re.compile(r"\s*\S+")


@dataclass(frozen=True)
class Change:
    """Words that are the same in both texts, were deleted, or were inserted."""

    kind: str  # same, deleted, inserted
    text: str


def word_diff(before: str, after: str) -> list[Change]:
    """Return the changes from ``before`` to ``after``; white space is no change.

    The words that are not inserted make up ``before``, those that are not deleted ``after``.
    White space before a deletion or an insertion stands outside it, so that no mark covers it.
    """
    old, new = _WORD.findall(before), _WORD.findall(after)
    matcher = SequenceMatcher(None, [w.strip() for w in old], [w.strip() for w in new], False)
    changes: list[Change] = []
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind == "equal":
            changes.append(Change("same", "".join(new[k:m])))
            continue
        _mark(changes, "deleted", "".join(old[i:j]))
        _mark(changes, "inserted", "".join(new[k:m]))
    return changes


def _mark(changes: list[Change], kind: str, text: str) -> None:
    words = text.lstrip()
    if not words:
        return
    space = text[: len(text) - len(words)] or (" " if changes else "")
    if space:
        changes.append(Change("same", space))
    changes.append(Change(kind, words))
