"""The adjectives of a pole: the pole's own, or a list with its synonyms.

Cao et al. (2022) score one adjective per pole; they tried lists (Table A7) averaged by their mean
(footnote 4) and dropped them. The released code takes the median over lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from probing.measures.base import Problem
from probing.measures.stimuli import Stimuli, Trait

Adjectives = Literal["pole", "lists", "released_lists"]
Pole = Literal["low", "high"]

#: As the released lists spell two words of Table A7.
RELEASED_SPELLING = {"atheistic": "athiestic", "avant-garde": "avante-garde"}


@dataclass(frozen=True)
class ScoredWord:
    """One adjective that is scored for one pole of a trait."""

    trait: str
    pole: Pole
    word: str


def scored_words(stimuli: Stimuli, choice: Adjectives = "pole") -> tuple[ScoredWord, ...]:
    """Return the adjectives of low and high pole of each trait in turn, the pole's own first."""
    return tuple(
        ScoredWord(trait.slug, pole, word)
        for trait in stimuli.traits
        for pole in ("low", "high")
        for word in pole_words(trait, pole, choice)
    )


def pole_words(trait: Trait, pole: Pole, choice: Adjectives = "pole") -> tuple[str, ...]:
    """Return the adjectives of one pole, each once."""
    own, synonyms = (
        (trait.low, trait.low_synonyms) if pole == "low" else (trait.high, trait.high_synonyms)
    )
    if choice == "pole":
        return (own,)
    words = dict.fromkeys((own, *synonyms))
    if choice == "released_lists":
        return tuple(RELEASED_SPELLING.get(word, word) for word in words)
    return tuple(words)


def both_poles(trait: Trait, choice: Adjectives = "pole") -> tuple[str, ...]:
    """Return the adjectives of the low pole, then those of the high one."""
    return (*pole_words(trait, "low", choice), *pole_words(trait, "high", choice))


def empty_lists(traits: Sequence[Trait], choice: Adjectives) -> list[Problem]:
    """Return a fatal problem for every pole whose list is asked for, but holds no synonym.

    The mean of one adjective against that of several would look like a comparison of lists. Who
    wants just that names the pole's own adjective as its synonym.
    """
    if choice == "pole":
        return []
    return [
        Problem(
            f"trait {trait.slug}, {pole} pole",
            f"The list of “{word}” is empty: it has no synonyms in the library. Add some to the "
            "trait pair, or choose pole for the parameter adjectives.",
            True,
        )
        for trait in traits
        for pole, word, synonyms in (
            ("low", trait.low, trait.low_synonyms),
            ("high", trait.high, trait.high_synonyms),
        )
        if not synonyms
    ]
