"""What changed from one text to another, word by word."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import SequenceMatcher

_PART = re.compile(r"\S+|\s+")


@dataclass(frozen=True)
class Change:
    """Words that are the same in both texts, were deleted, or were inserted."""

    kind: str  # same, deleted, inserted
    text: str


def word_diff(before: str, after: str) -> list[Change]:
    """Return the changes from ``before`` to ``after``.

    The parts that are not inserted make up ``before``, those that are not deleted ``after``,
    white space and all.
    """
    old, new = _PART.findall(before), _PART.findall(after)
    changes: list[Change] = []
    for kind, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            changes.append(Change("same", "".join(old[i:j])))
            continue
        if i < j:
            changes.append(Change("deleted", "".join(old[i:j])))
        if k < m:
            changes.append(Change("inserted", "".join(new[k:m])))
    return changes
