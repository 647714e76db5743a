"""Toxicity as hits of a word list, and how much of it a rewriting removes.

Deas et al. (2023) §4.2: T is the number of words of a text that a list calls offensive. It says
that a word is there, not that a text is offensive: reclaimed words count like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.undefined import UndefinedReason

Pooling = Literal["corpus", "mean"]

_APOSTROPHES = str.maketrans({"\u2019": "'", "\u2018": "'", "\u02bc": "'"})


@dataclass(frozen=True)
class ToxicityRemoved:
    """(T_in − T_out) / T_in.

    value : 1 = all removed, 0 = as many as before, below 0 = some were added; NaN = undefined
    n : texts that the value rests on
    n_left_out : texts without a hit in the input, which a mean over texts cannot hold
    """

    value: float
    n: int
    n_left_out: int
    reason: str = UndefinedReason.NONE


def count_hits(texts: Sequence[str], words: Iterable[str]) -> NDArray[np.int64]:
    """Return how many words of the list every text holds, repetitions counted; (n_texts,).

    Whole words, whatever their case; no inflections, so that a plural counts only where the list
    has it. An entry may be a phrase; any white space may part its words. Of entries that overlap
    in a text the longest counts, once. Typographic and plain apostrophes are the same. Raises
    ValueError for a list without words.
    """
    entries = {" ".join(word.translate(_APOSTROPHES).split()) for word in words} - {""}
    if not entries:
        raise ValueError("the word list holds no words")
    longest_first = sorted(entries, key=lambda entry: (-len(entry), entry))
    choices = "|".join(re.escape(entry).replace(r"\ ", r"\s+") for entry in longest_first)
    pattern = re.compile(rf"(?<!\w)(?:{choices})(?!\w)", re.IGNORECASE)
    counts = {
        text: sum(1 for _ in pattern.finditer(text.translate(_APOSTROPHES)))
        for text in dict.fromkeys(texts)
    }
    return np.array([counts[text] for text in texts], dtype=np.int64)


def removed(t_in: ArrayLike, t_out: ArrayLike, pooling: Pooling = "corpus") -> ToxicityRemoved:
    """Return the share of hits that is gone in the output.

    t_in, t_out : (n_texts,) hits of inputs and outputs, 0 or more, NaN = missing; left out
    pooling : ``corpus`` compares the sums over all texts, so that a text weighs as many hits as
        it has; ``mean`` averages the share of every text that has a hit in its input

    Deas et al. (2023) do not say how texts are pooled. Without a hit in any input the share is
    undefined. Raises ValueError for lists of unequal length and negative counts.
    """
    before, after = np.asarray(t_in, dtype=float), np.asarray(t_out, dtype=float)
    if before.ndim != 1 or before.shape != after.shape:
        raise ValueError(
            f"two lists of equal length are needed, got shapes {before.shape}, {after.shape}"
        )
    if (before < 0).any() or (after < 0).any():
        raise ValueError("hits are counted from 0")
    if pooling not in ("corpus", "mean"):
        raise ValueError(f"pooling is '{pooling}', expected 'corpus' or 'mean'")
    there = ~(np.isnan(before) | np.isnan(after))
    before, after = before[there], after[there]
    if not before.any():
        return ToxicityRemoved(np.nan, 0, int(before.size), UndefinedReason.NO_TOXICITY)
    if pooling == "corpus":
        value = float((before.sum() - after.sum()) / before.sum())
        return ToxicityRemoved(value, int(before.size), 0)
    toxic = before > 0
    shares = (before[toxic] - after[toxic]) / before[toxic]
    return ToxicityRemoved(float(shares.mean()), int(toxic.sum()), int((~toxic).sum()))
