"""Check 1: does what somebody typed name the group that they have just rated?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import Levenshtein

from annotation.instruments.checks.spelling import forgiven_errors, plain_words

# English and Spanish.
ARTICLES = frozenset({"a", "an", "the", "el", "la", "los", "las", "un", "una", "unos", "unas"})
# Words that carry no group: “elderly people”, “an elderly person” and “the elderly” are one name,
# “personas mayores” and “los mayores” another.
HEAD_NOUNS = frozenset(
    {"person", "persons", "people", "peoples", "folk", "folks", "individual", "individuals",
     "persona", "personas", "gente"}
)  # fmt: skip
IRREGULAR = {"men": "man", "women": "woman"}


def names_group(answer: str, forms: Sequence[str], *, others: Iterable[Sequence[str]] = ()) -> bool:
    """Return whether ``answer`` names the group with the surface forms ``forms``.

    Case, accents, hyphens, articles, singular or plural, and words such as “people” do not matter;
    a few typing errors are forgiven, more in a long name (none below 4 letters, 1 below 7, 2 below
    12, then 3). ``others`` holds the forms of the instrument's other groups: an answer that is
    closer to one of them names that one instead.
    """
    readings = _read(answer)
    best = _closest(readings, forms)
    if best is None:
        return False
    rivals = [_closest(readings, other) for other in others]
    return all(rival is None or rival >= best for rival in rivals)


def _closest(readings: Sequence[str], forms: Sequence[str]) -> int | None:
    """Return the smallest forgiven edit distance between a reading and a form, None without one."""
    distances = [
        distance
        for name in filter(None, map(_bare_name, forms))
        for reading in readings
        if (distance := Levenshtein.distance(reading, name)) <= forgiven_errors(name)
    ]
    return min(distances, default=None)


@lru_cache(maxsize=4096)  # every answer is compared with the names of all groups
def _bare_name(form: str) -> str:
    return _join(_bare_words(form))


def _read(answer: str) -> list[str]:
    """Return the bare names that an answer may stand for.

    The second reading leaves out a last word that looks like a misspelt “people” or “person”.
    """
    words = _bare_words(answer)
    readings = [words]
    if len(words) > 1 and any(
        Levenshtein.distance(words[-1], noun) <= 2 for noun in ("people", "person")
    ):
        readings.append(words[:-1])
    return [joined for reading in readings if (joined := _join(reading))]


def _bare_words(text: str) -> list[str]:
    """Return the words that make the name: “The Working-Class people” gives working, class."""
    return [w for w in plain_words(text) if w not in ARTICLES and w not in HEAD_NOUNS]


def _join(words: Iterable[str]) -> str:
    return "".join(_singular(word) for word in words)


def _singular(word: str) -> str:
    """Return a rough singular; both sides of a comparison go through it, so rough is enough."""
    if word in IRREGULAR:
        return IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
