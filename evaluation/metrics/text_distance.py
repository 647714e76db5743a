"""Levenshtein distances between many texts, summed without ever holding all of them.

The distance is the least number of insertions, deletions and substitutions of one symbol
(Levenshtein 1966). A symbol is a Unicode character, or a word (what white space parts). Nothing
is normalized before: case and accents count.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist, cpdist

Distance = Literal["characters", "words", "normalized"]
DISTANCES: tuple[Distance, ...] = ("characters", "words", "normalized")

#: Texts on either side of a block: 4 bytes a distance and 8 for its float, with a copy while parts
#: are put together: no more than 2048² · 20 bytes = 84 MB at once, however many texts there are.
BLOCK = 2048
#: A query of up to 64 symbols fits one machine word; rapidfuzz then compares it with several
#: texts at once, seven times as fast. One longer query in a list slows all of them down.
WORD_LENGTH = 64
#: Python's characters end here; as many different words can be told apart.
LARGEST_VOCABULARY = 0x110000


class EncodedTexts:
    """Texts as strings of symbols, ready to be compared.

    Attributes
    ----------
    symbols : (n_texts,) one character for each symbol.
    lengths : (n_texts,) number of symbols.
    """

    def __init__(self, texts: Sequence[str], distance: Distance) -> None:
        if distance not in DISTANCES:
            raise ValueError(f"distance is '{distance}', expected one of {', '.join(DISTANCES)}")
        self.distance = distance
        self.symbols = _as_symbols(texts) if distance == "words" else list(texts)
        self.lengths = np.array([len(text) for text in self.symbols], dtype=np.int64)

    def between(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the distance of each text of `first` to the one at the same place in `second`."""
        if not len(first):
            return np.zeros(0)
        found = cpdist(
            [self.symbols[i] for i in first],
            [self.symbols[j] for j in second],
            scorer=Levenshtein.distance,
            dtype=np.uint32,
            workers=-1,
        ).astype(float)
        if self.distance == "normalized":
            longer = np.maximum(self.lengths[first], self.lengths[second])
            found /= np.maximum(longer, 1)
        return found

    def sums(self, weights: NDArray[np.float64], *, block: int = BLOCK) -> NDArray[np.float64]:
        """Return for every text the weighted sums of its distances to all texts.

        weights : (n_texts, n_sums)
        returns : (n_texts, n_sums), Σ_s D(t, s) weights[s]; exact for whole weights up to 2^53

        Every distance is computed once, since D(t, s) = D(s, t); all cores work on a block.
        """
        n = len(self.symbols)
        if weights.shape[:1] != (n,):
            raise ValueError(f"there are {n} texts, but weights of {weights.shape[0]}")
        sums = np.zeros(weights.shape)
        starts = range(0, n, block)
        for start in starts:
            rows = slice(start, min(start + block, n))
            for other in range(start, n, block):
                columns = slice(other, min(other + block, n))
                distances = self._block(rows, columns)
                sums[rows] += distances @ weights[columns]
                if other != start:
                    sums[columns] += distances.T @ weights[rows]
        return sums

    def cross_sums(
        self, first: NDArray[np.int64], second: NDArray[np.int64], *, block: int = BLOCK
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return Σ_j D(first_i, second_j) for every i, and Σ_i for every j."""
        row_sums, column_sums = np.zeros(len(first)), np.zeros(len(second))
        for i in range(0, len(first), block):
            for j in range(0, len(second), block):
                rows, columns = slice(i, i + block), slice(j, j + block)
                distances = self._distances(first[rows], second[columns])
                row_sums[rows] += distances.sum(axis=1)
                column_sums[columns] += distances.sum(axis=0)
        return row_sums, column_sums

    def _block(self, rows: slice, columns: slice) -> NDArray[np.float64]:
        numbers = np.arange(len(self.symbols))
        return self._distances(numbers[rows], numbers[columns])

    def _distances(
        self, first: NDArray[np.int64], second: NDArray[np.int64]
    ) -> NDArray[np.float64]:
        distances = np.empty((len(first), len(second)))
        rows_short, columns_short = self._short(first), self._short(second)
        rows, columns = np.flatnonzero(~rows_short), np.flatnonzero(~columns_short)
        distances[rows_short] = self._compare(first[rows_short], second)
        short = np.flatnonzero(columns_short)
        distances[np.ix_(rows, short)] = self._compare(second[short], first[rows]).T
        distances[np.ix_(rows, columns)] = self._compare(first[rows], second[columns])
        if self.distance == "normalized":
            longer = np.maximum(self.lengths[first][:, None], self.lengths[second])
            distances /= np.maximum(longer, 1)
        return distances

    def _short(self, texts: NDArray[np.int64]) -> NDArray[np.bool_]:
        return self.lengths[texts] <= WORD_LENGTH

    def _compare(self, queries: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.uint32]:
        ours = [self.symbols[i] for i in queries]
        # The same list on both sides tells rapidfuzz that half of the block is enough.
        theirs = ours if np.array_equal(queries, others) else [self.symbols[j] for j in others]
        if not ours or not theirs:
            return np.zeros((len(ours), len(theirs)), dtype=np.uint32)
        return cdist(ours, theirs, scorer=Levenshtein.distance, dtype=np.uint32, workers=-1)


def _as_symbols(texts: Sequence[str]) -> list[str]:
    """Return texts in which every different word has become a character of its own."""
    numbers: dict[str, int] = {}
    cut = [[numbers.setdefault(word, len(numbers)) for word in text.split()] for text in texts]
    if len(numbers) > LARGEST_VOCABULARY:
        raise ValueError(
            f"the texts hold {len(numbers):,} different words; at most {LARGEST_VOCABULARY:,} can "
            "be compared at once"
        )
    return ["".join(map(chr, words)) for words in cut]
