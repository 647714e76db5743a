"""CEAT's two p-values: does a group lean to a pole at all, and does it lean more than others?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeAlias

from annotation.common.lazy import np, npt, stats

Vectors: TypeAlias = "npt.NDArray[np.floating]"

#: 32 MB of weights.
_PERMUTED_AT_ONCE = 4_000_000


def permutation_p_value(
    group: Vectors,
    positive: Sequence[Vectors],
    negative: Sequence[Vectors],
    *,
    n_permutations: int,
    rng: np.random.Generator,
    words_alike: bool = True,
) -> float:
    """Return the two-sided p-value of the poles' difference in mean cosine with the group.

    group, positive, negative : as of `pooled_effect`
    words_alike : every word of a pole counts alike, as in each draw, whatever its number of
        contexts; otherwise every context does, as in the pooled effect
    n_permutations : how often the contexts of both poles' words, a sentence each, are dealt out
        anew among these words (methods.md §6, ours)

    The difference is the numerator of the effect size over all contexts, which random draws only
    approximate: the p-value depends on the data and not on a number of draws. It speaks of other
    sentences with these words, not of other words. p = (1 + as large or larger) / (1 + n).
    """
    sizes = (tuple(map(len, positive)), tuple(map(len, negative)))
    weights = _signed_weights(sizes, words_alike)
    center = group.astype(np.float64).mean(axis=0)
    # A context's mean cosine with all contexts of the group.
    cosines = np.concatenate([*positive, *negative]).astype(np.float64) @ center
    cosines -= cosines.mean()
    at_once = max(_PERMUTED_AT_ONCE // len(weights), 1)
    # Equal differences are summed in different orders.
    least = abs(weights @ cosines) - 1e-12 * np.abs(cosines).max()
    reached = 0
    for start in range(0, n_permutations, at_once):
        rows = min(at_once, n_permutations - start)
        dealt = rng.permuted(np.broadcast_to(weights, (rows, len(weights))), axis=1)
        reached += int((np.abs(dealt @ cosines) >= least).sum())
    return (1 + reached) / (1 + n_permutations)


@dataclass(frozen=True)
class Leaning:
    """How a group leans, and what is needed to set it beside other groups.

    toward : (n_contexts of all words,) mean cosine of the group with each, A's words, then B's
    error : squared error of the group's lean, its cosines with A less those with B, over its
        contexts; NaN with one context
    n : contexts of the group; sizes : contexts of each word, A's, then B's
    """

    toward: npt.NDArray[np.float64]
    error: float
    n: int
    sizes: tuple[tuple[int, ...], tuple[int, ...]]


def leaning_of(
    group: Vectors, positive: Sequence[Vectors], negative: Sequence[Vectors], *, words_alike: bool
) -> Leaning:
    """Return how a group leans; arguments as of `permutation_p_value`."""
    words = np.concatenate([*positive, *negative]).astype(np.float64)
    sizes = (tuple(map(len, positive)), tuple(map(len, negative)))
    vectors, n = group.astype(np.float64), len(group)
    leans = vectors @ (words.T @ _signed_weights(sizes, words_alike))
    error = float(leans.var(ddof=1) / n) if n > 1 else float("nan")
    return Leaning(words @ vectors.mean(axis=0), error, n, sizes)


def relative_p_value(own: Leaning, others: Sequence[Leaning], *, words_alike: bool) -> float:
    """Return the two-sided p-value of a group that leans as the mean of the others does (*ours*).

    others : leanings of the other groups toward the same words

    With u the group's mean cosines with every context of the words less those of the other groups,
    d is the mean of u over A's words less that over B's. Its squared error is the sum of those over
    the contexts of the group, of each other group, and of each word; degrees of freedom are
    Satterthwaite's (1946). The crossed jackknife in closed form, since d is linear in all. NaN
    without another group, with one context of any, and where nothing varies.
    """
    if not others:
        return float("nan")
    share = 1 / len(others)
    u = own.toward - share * sum(other.toward for other in others)
    weights = _signed_weights(own.sizes, words_alike)
    parts = [(own.error, own.n), *((share**2 * other.error, other.n) for other in others)]
    start = 0
    for n in (*own.sizes[0], *own.sizes[1]):
        word = slice(start, start + n)
        start += n
        if n < 2:
            return float("nan")
        parts.append((float((weights[word] * n).mean() ** 2 * u[word].var(ddof=1) / n), n))
    square = sum(part for part, _ in parts)
    if not square > 0:
        return float("nan")
    df = square**2 / sum(part**2 / (n - 1) for part, n in parts)
    return float(2 * stats.t.sf(abs(weights @ u) / sqrt(square), df))


def _signed_weights(
    sizes: tuple[Sequence[int], Sequence[int]], words_alike: bool
) -> npt.NDArray[np.float64]:
    first, second = (_weights(one, words_alike) for one in sizes)
    return np.concatenate([first, -second])


def _weights(contexts: Sequence[int], words_alike: bool) -> npt.NDArray[np.float64]:
    """Return what each context counts in the mean over a pole, from the contexts of its words."""
    sizes = np.array(contexts)
    if words_alike:
        return np.repeat(1 / (len(sizes) * sizes), sizes)
    return np.full(sizes.sum(), 1 / sizes.sum())
