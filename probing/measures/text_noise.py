"""Noise in texts: characters dropped, added and replaced, as a control of guises.

Hofmann et al. (2024), Supplementary Information, Alternative explanations: noisy texts tell whether
any deviation from Standard American English would do. Which characters change is ours: each letter
or digit is changed with the stated probability, one of the three ways at random.
"""

from __future__ import annotations

import re
import string

from annotation.common.lazy import np

LETTERS = string.ascii_lowercase


def add_noise(text: str, rate: float, rng: np.random.Generator) -> str:
    """Return a text with noise; at least one of its letters or digits is changed.

    rate : share of letters and digits that are changed on average, above 0 and up to 1

    White space and punctuation stay, and no word is emptied. A text without letters and digits is
    returned as it is. Raises ValueError for another rate.
    """
    if not 0 < rate <= 1:
        raise ValueError(f"the rate is {rate}, expected a share above 0 and up to 1")
    places = [place for place, character in enumerate(text) if character.isalnum()]
    if not places:
        return text
    changed = [place for place in places if rng.random() < rate]
    characters = list(text)
    for place in changed or [places[int(rng.integers(len(places)))]]:
        other = _another(text[place], rng)
        characters[place] = ("", text[place] + other, other)[int(rng.integers(3))]
    for word in re.finditer(r"\S+", text):
        begin, end = word.span()
        if not any(characters[begin:end]):
            characters[begin] = _another(text[begin], rng)
    return "".join(characters)


def _another(character: str, rng: np.random.Generator) -> str:
    letters = LETTERS.replace(character.casefold(), "")
    return letters[int(rng.integers(len(letters)))]
