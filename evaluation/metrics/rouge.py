"""Rouge: overlap of words and word sequences between a text and its reference.

Lin (2004). With ASCII tokens, scores are those of the package rouge-score 0.1.2, number for number:
words are lower-cased runs of ``[a-z0-9]``, so that accents cut a word in two and other scripts have
no words. Unicode tokens (ours) are the same for texts in ASCII; beyond it they are runs of letters,
marks and digits (NFC), single emoji and symbols, and single characters of scripts without spaces.
Every text is cut into words once, and the longest common subsequence is found bit-parallel, which
is what makes it faster than the package.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import regex
from numpy.typing import NDArray
from rapidfuzz.distance import LCSseq

KINDS = ("rouge1", "rouge2", "rougeL")
LONGEST_UNSTEMMED = 3

NO_WORDS = "the text to compare with has no words that Rouge can count"
Tokens = Literal["unicode", "ascii"]

_WORD = re.compile("[a-z0-9]+")
_UNICODE_WORD = regex.compile(
    r"(?=[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
    r"\p{Extended_Pictographic}\p{Regional_Indicator}\p{So}])\X"
    r"|(?:[\p{L}\p{N}](?:(?![\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}"
    r"\p{Myanmar}])[\p{L}\p{M}\p{N}\u200c\u200d])*)"
)
_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\ufeff"))
_NGRAMS = re.compile("rouge([1-9])")

Words = tuple[str, ...]


@dataclass(frozen=True)
class RougeScores:
    """Scores of every text, (n_texts,), 0 to 1.

    0 where a text or its reference has no n-gram, as in the package; but NaN where the reference is
    not ASCII and has none, since then its words were not seen, or it has no words at all.
    """

    precision: NDArray[np.float64]
    recall: NDArray[np.float64]
    f: NDArray[np.float64]


def rouge_scores(
    candidates: Sequence[str],
    references: Sequence[str],
    *,
    stemming: bool = False,
    kinds: Sequence[str] = KINDS,
    tokens: Tokens = "ascii",
) -> dict[str, RougeScores]:
    """Return the scores of every candidate against the reference at the same place.

    candidates, references : (n_texts,)
    stemming : Porter stems of words longer than three characters
    kinds : ``rouge1`` … ``rouge9`` for n-grams, ``rougeL`` for the longest common subsequence
    tokens : what words are, see the top of this file

    P = overlap / n-grams of the candidate, R = overlap / n-grams of the reference, each n-gram
    counting as often as it occurs in both; F = 2PR / (P + R), 0 where both are 0. For rougeL the
    overlap is the length of the longest common subsequence of words. Raises ValueError for lists
    of unequal length and kinds that do not exist.
    """
    if len(candidates) != len(references):
        raise ValueError(
            f"every candidate needs its reference: got {len(candidates)} candidates and "
            f"{len(references)} references"
        )
    sizes = {kind: _ngram_size(kind) for kind in kinds}
    words = _cut_all([*candidates, *references], stemming=stemming, tokens=tokens)
    pairs = [(words[c], words[r]) for c, r in zip(candidates, references, strict=True)]
    found = {}
    for kind, size in sizes.items():
        if size:
            rows = _overlap_ngrams(pairs, size)
        else:
            rows = ((_common_length(c, r), len(c), len(r)) for c, r in pairs)
        unseen = [not text.isascii() and len(words[text]) < max(size, 1) for text in references]
        found[kind] = _score(rows, np.array(unseen, dtype=bool))
    return found


def cut_words(text: str, tokens: Tokens = "ascii") -> Words:
    """Return the words of a text as Rouge sees them, lower-cased."""
    if tokens == "ascii" or text.isascii():
        return tuple(_WORD.findall(text.lower()))
    plain = unicodedata.normalize("NFC", text.lower().translate(_UNSEEN))
    return tuple(_UNICODE_WORD.findall(plain))


def _ngram_size(kind: str) -> int:
    """Return n, or 0 for the longest common subsequence."""
    if kind == "rougeL":
        return 0
    match = _NGRAMS.fullmatch(kind)
    if match is None:
        raise ValueError(f"'{kind}' is no kind of Rouge: expected rouge1 … rouge9 or rougeL")
    return int(match[1])


def _cut_all(texts: Sequence[str], *, stemming: bool, tokens: Tokens) -> dict[str, Words]:
    words = {text: cut_words(text, tokens) for text in dict.fromkeys(texts)}
    if not stemming:
        return words
    from nltk.stem.porter import PorterStemmer

    stemmer = PorterStemmer()
    vocabulary = {word for cut in words.values() for word in cut}
    stems = {
        word: stemmer.stem(word) if len(word) > LONGEST_UNSTEMMED else word for word in vocabulary
    }
    return {text: tuple(stems[word] for word in cut) for text, cut in words.items()}


def _overlap_ngrams(
    pairs: Sequence[tuple[Words, Words]], size: int
) -> Iterable[tuple[int, int, int]]:
    counted: dict[Words, Counter[object]] = {}

    def count(words: Words) -> Counter[object]:
        if words not in counted:
            shifted = (words[start:] for start in range(size))
            grams: Iterable[object] = words if size == 1 else zip(*shifted, strict=False)
            counted[words] = Counter(grams)
        return counted[words]

    for candidate, reference in pairs:
        ours, theirs = count(candidate), count(reference)
        fewer, more = (ours, theirs) if len(ours) < len(theirs) else (theirs, ours)
        overlap = sum(min(n, more[gram]) for gram, n in fewer.items() if gram in more)
        yield (
            overlap,
            max(len(candidate) - size + 1, 0),
            max(len(reference) - size + 1, 0),
        )


def _common_length(candidate: Words, reference: Words) -> int:
    # Words become numbers of this pair alone: equal numbers are equal words, never a hash's luck.
    numbers = {word: i for i, word in enumerate(dict.fromkeys(candidate + reference))}
    return int(LCSseq.similarity([numbers[w] for w in candidate], [numbers[w] for w in reference]))


def _score(rows: Iterable[tuple[int, int, int]], unseen: NDArray[np.bool_]) -> RougeScores:
    counts = np.array(list(rows), dtype=float).reshape(-1, 3)
    overlap, n_candidate, n_reference = counts.T
    precision = overlap / np.maximum(n_candidate, 1)
    recall = overlap / np.maximum(n_reference, 1)
    total = precision + recall
    product = 2 * precision * recall
    f = np.divide(product, total, out=np.zeros_like(total), where=total > 0)
    return RougeScores(*(np.where(unseen, np.nan, values) for values in (precision, recall, f)))
