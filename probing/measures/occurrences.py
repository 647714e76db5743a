"""Occurrences of words and phrases in sentences, sampled uniformly in one pass."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from annotation.common.lazy import np

_WORD = re.compile(r"[^\W_]+(?:[’'\-][^\W_]+)*")


@dataclass(frozen=True)
class Occurrence:
    """A sentence, and where the word stands in it (character offsets)."""

    sentence: str
    start: int
    end: int


@dataclass(frozen=True)
class Sample:
    """Occurrences of one word: those that were drawn, out of all sentences that hold it."""

    drawn: tuple[Occurrence, ...]
    n_found: int


def sample_occurrences(
    sentences: Iterable[str], phrases: Mapping[str, Sequence[str]], *, per_key: int, seed: int
) -> dict[str, Sample]:
    """Return up to `per_key` sentences for each key, drawn uniformly from all that hold it.

    sentences : read once, never kept as a whole
    phrases : key → its spellings, such as a group's surface forms; whole words, any case
    per_key : the most sentences drawn for a key
    seed : each key draws with a generator of its own, so that other keys do not change its sample

    A sentence counts once per key, at the first place where one of its spellings stands. Raises
    ValueError for an empty spelling.
    """
    by_words: dict[tuple[str, ...], list[str]] = {}
    for key, spellings in phrases.items():
        for spelling in spellings:
            words = tuple(match.group().casefold() for match in _WORD.finditer(spelling))
            if not words:
                raise ValueError(f"'{key}' has the spelling '{spelling}', which holds no word")
            by_words.setdefault(words, []).append(key)
    longest = max(map(len, by_words), default=0)
    pools = {key: _Pool(per_key, _generator(seed, key)) for key in phrases}
    for sentence in sentences:
        for key, (start, end) in _find(sentence, by_words, longest).items():
            pools[key].offer(Occurrence(sentence, start, end))
    return {key: Sample(tuple(pool.kept), pool.seen) for key, pool in pools.items()}


def _find(
    sentence: str, by_words: Mapping[tuple[str, ...], list[str]], longest: int
) -> dict[str, tuple[int, int]]:
    """Return the first place of every key in the sentence."""
    matches = list(_WORD.finditer(sentence))
    words = [match.group().casefold() for match in matches]
    found: dict[str, tuple[int, int]] = {}
    for first in range(len(words)):
        for size in range(1, min(longest, len(words) - first) + 1):
            for key in by_words.get(tuple(words[first : first + size]), ()):
                place = (matches[first].start(), matches[first + size - 1].end())
                found.setdefault(key, place)
    return found


class _Pool:
    """Reservoir sampling (Vitter 1985, algorithm R): every sentence is kept with equal chance."""

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self.kept: list[Occurrence] = []
        self.seen = 0
        self._size = size
        self._rng = rng

    def offer(self, occurrence: Occurrence) -> None:
        self.seen += 1
        if len(self.kept) < self._size:
            self.kept.append(occurrence)
            return
        place = int(self._rng.integers(self.seen))
        if place < self._size:
            self.kept[place] = occurrence


def _generator(seed: int, key: str) -> np.random.Generator:
    words = np.frombuffer(sha256(key.encode()).digest()[:16], dtype=np.uint32)
    return np.random.default_rng([seed, *words.tolist()])
