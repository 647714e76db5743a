"""Check 2 as Cao et al. (2022) §4 printed it: type a trait that was marked high, and one low.

What is typed is compared with every word of the page and with the synonyms of its trait lists,
whatever the spelling; the closest word counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import Levenshtein

from annotation.instruments.checks.spelling import forgiven_errors, plain_words

ARTICLES = frozenset({"a", "an", "the", "very", "more", "most", "muy", "más", "el", "la", "lo"})
#: A word with one of these before it says the opposite: never a misspelling.
NEGATIONS = ("un", "in", "im", "ir", "il", "dis", "non", "not", "no", "sin", "des")


@dataclass(frozen=True)
class TypedWord:
    """The words of one pole, synonyms among them; ``nearness`` to the group, 0 to 100."""

    key: str
    words: tuple[str, ...]
    nearness: float


def find_poles(answer: str, poles: Iterable[TypedWord]) -> list[TypedWord]:
    """Return the poles whose words are closest to what was typed, none where nothing is close.

    Case, accents, hyphens and words such as “very” do not matter; a few typing errors are forgiven,
    more in a long word (none below 4 letters, 1 below 7, 2 below 12, then 3), but not a negation.
    """
    typed = _join(answer)
    if not typed:
        return []
    best: list[TypedWord] = []
    least: int | None = None
    for pole in poles:
        distances = [
            distance
            for word in map(_join, pole.words)
            if word
            and not _is_negation(typed, word)
            and (distance := Levenshtein.distance(typed, word)) <= forgiven_errors(word)
        ]
        closest = min(distances, default=None)
        if closest is None or (least is not None and closest > least):
            continue
        best = [*best, pole] if closest == least else [pole]
        least = closest
    return best


def is_marked(
    answer: str, poles: Sequence[TypedWord], *, high: bool, high_from: float, low_to: float
) -> bool:
    """Return whether what was typed names a word that was marked high, or one marked low.

    High is a word that the group was placed near, low one that it was placed far from: the word at
    the other end of the line.
    """
    return any(
        pole.nearness >= high_from if high else pole.nearness <= low_to
        for pole in find_poles(answer, poles)
    )


def _join(text: str) -> str:
    return "".join(word for word in plain_words(text) if word not in ARTICLES)


def _is_negation(typed: str, word: str) -> bool:
    longer, shorter = (typed, word) if len(typed) > len(word) else (word, typed)
    return any(longer == f"{prefix}{shorter}" for prefix in NEGATIONS)
