"""Made-up texts: words of letters by chance, and rewritings that change a few of them."""

from __future__ import annotations

import numpy as np

VOCABULARY = 3000
#: The texts of Deas et al. (2023, Table 3) have 16.3 words on average.
SHORTEST, LONGEST = 6, 26


class TextMaker:
    """Draws texts from one vocabulary; the same seed gives the same texts."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = np.random.default_rng(seed)
        letters = list("etaoinshrdlucmfwyp")
        self._words = [
            "".join(self._rng.choice(letters, size=size))
            for size in self._rng.integers(1, 8, size=VOCABULARY)
        ]

    def text(self) -> list[str]:
        """Return the words of a new text."""
        n = int(self._rng.integers(SHORTEST, LONGEST + 1))
        return [self._words[i] for i in self._rng.integers(VOCABULARY, size=n)]

    def rewriting(self, words: list[str]) -> list[str]:
        """Return the words with a fifth of them replaced."""
        changed = self._rng.random(len(words)) < 0.2
        other = self._rng.integers(VOCABULARY, size=len(words))
        return [self._words[o] if c else w for w, c, o in zip(words, changed, other, strict=True)]

    def pairs(self, n: int) -> list[tuple[str, str]]:
        """Return texts with a rewriting of each."""
        texts = [self.text() for _ in range(n)]
        return [(" ".join(self.rewriting(text)), " ".join(text)) for text in texts]
