"""What counts as a word of a text. Lengths, type–token ratios and densities all use this."""

from __future__ import annotations

import re

# Letters and digits, joined by apostrophes and hyphens between them: don't, mother-in-law, 3-year.
WORD = re.compile(r"[^\W_]+(?:['’‘ʼ\-‐‑][^\W_]+)*")
APOSTROPHES = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "‐": "-", "‑": "-"})


def split_words(text: str) -> list[str]:
    """Return the words of ``text`` in lower case, with straight apostrophes and hyphens.

    A word is a run of letters and digits; apostrophes and hyphens belong to it between two of
    them, so that “ain’t” and “mother-in-law” are one word each. Everything else separates.

    >>> split_words("He ain’t goin' nowhere, #fr")
    ['he', "ain't", 'goin', 'nowhere', 'fr']
    """
    return [word.casefold() for word in WORD.findall(text.translate(APOSTROPHES))]
