"""CEAT's arithmetic: effect sizes of contextual embeddings, and how draws are combined.

Cao et al. (2022), §3.1, per group, after Guo and Caliskan (2021):

    ES(g, A, B) = (mean cos(g, a) over A − mean cos(g, b) over B) / s,  s = sd of all those cosines

A holds the words of the high pole, B those of the low one, so a positive effect leans high.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erfc, sqrt
from typing import TypeAlias

from annotation.common.lazy import np, npt

Vectors: TypeAlias = "npt.NDArray[np.floating]"

CONSTANT = "all cosines are equal"
TOO_FEW_DRAWS = "fewer than two draws have a value"
#: 32 MB of weights.
_PERMUTED_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Effect:
    """An effect size, with the number of cosines behind it; NaN with a reason where undefined."""

    value: float
    n: int
    reason: str = ""


@dataclass(frozen=True)
class RandomEffects:
    """Effect sizes of many draws as one; NaN with a reason where undefined.

    combined : the weighted mean effect size
    variance : of the combined effect size
    heterogeneity : Q, the weighted squared deviation from the mean
    tau_squared : variance between draws
    z, p_one_sided, p_two_sided : combined / standard error, and its normal p-values; one-sided
        asks whether the effect is positive, as released
    n : draws that went in
    """

    combined: float
    variance: float
    heterogeneity: float
    tau_squared: float
    z: float
    p_one_sided: float
    p_two_sided: float
    n: int
    reason: str = ""


def unit_vectors(vectors: Vectors) -> npt.NDArray[np.float64]:
    """Return (n, size) vectors of length 1; their products are cosines.

    Raises ValueError for a vector of length 0, which has no direction.
    """
    values = np.asarray(vectors, dtype=np.float64)
    lengths = np.linalg.norm(values, axis=1, keepdims=True)
    if not np.all(lengths > 0):
        raise ValueError("an embedding has length 0 or is not a number: it has no direction")
    return values / lengths


def pooled_effect(
    group: Vectors, positive: Sequence[Vectors], negative: Sequence[Vectors]
) -> Effect:
    """Return the effect over all cosines between every context of the group and of each word.

    group : (n_contexts, size) unit vectors
    positive, negative : one array of unit vectors for each word of A and of B

    With one word per pole every single draw gives exactly ±√2 whatever the embeddings; pooling
    the contexts keeps what they say.
    """
    vectors = group.astype(np.float64)
    first = (vectors @ np.concatenate(positive).T.astype(np.float64)).ravel()
    second = (vectors @ np.concatenate(negative).T.astype(np.float64)).ravel()
    return _effect(first, second)


def draw_effects(
    group: Vectors,
    positive: Sequence[Vectors],
    negative: Sequence[Vectors],
    draws: npt.NDArray[np.integer],
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the effect size and released variance of every draw, both (n_draws,).

    draws : (n_draws, 1 + n_A + n_B) the context that is picked for the group, for each word of A
        and for each word of B

    The variance is that of the draw's cosines (ddof 1), as released; it is no sampling variance
    of an effect size. NaN where all cosines of a draw are equal.
    """
    picked = group[draws[:, 0]]
    words = [*positive, *negative]
    cosines = np.stack(
        [
            np.einsum("ij,ij->i", picked, word[draws[:, column]], dtype=np.float64)
            for column, word in enumerate(words, start=1)
        ],
        axis=1,
    )
    n_positive = len(positive)
    difference = cosines[:, :n_positive].mean(axis=1) - cosines[:, n_positive:].mean(axis=1)
    variances = cosines.var(axis=1, ddof=1)
    varies = variances > 0
    effects = np.full(len(draws), np.nan)
    effects[varies] = difference[varies] / np.sqrt(variances[varies])
    return effects, np.where(varies, variances, np.nan)


def combine_draws(
    effects: npt.NDArray[np.float64], variances: npt.NDArray[np.float64]
) -> RandomEffects:
    """Return the draws' effects combined by a random-effects model (Guo and Caliskan 2021).

    effects, variances : (n_draws,), NaN = a draw without a value, left out
    """
    usable = np.isfinite(effects) & np.isfinite(variances)
    e, v = effects[usable], variances[usable]
    n = len(e)
    if n < 2:
        return RandomEffects(*(float("nan"),) * 7, n, TOO_FEW_DRAWS)
    w = 1 / v
    mean = np.sum(w * e) / np.sum(w)
    # Q = Σ w e² − (Σ w e)² / Σ w, written as squared deviations so that no digits are lost.
    q = float(np.sum(w * (e - mean) ** 2))
    c = np.sum(w) - np.sum(w**2) / np.sum(w)
    tau_squared = max(0.0, float((q - (n - 1)) / c))
    w_star = 1 / (v + tau_squared)
    combined = float(np.sum(w_star * e) / np.sum(w_star))
    variance = float(1 / np.sum(w_star))
    z = combined / sqrt(variance)
    return RandomEffects(
        combined=combined,
        variance=variance,
        heterogeneity=q,
        tau_squared=tau_squared,
        z=z,
        p_one_sided=erfc(z / sqrt(2)) / 2,
        p_two_sided=erfc(abs(z) / sqrt(2)),
        n=n,
    )


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
    weights = np.concatenate([_weights(positive, words_alike), -_weights(negative, words_alike)])
    centre = group.astype(np.float64).mean(axis=0)
    # A context's mean cosine with all contexts of the group.
    cosines = np.concatenate([*positive, *negative]).astype(np.float64) @ centre
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


def _weights(words: Sequence[Vectors], words_alike: bool) -> npt.NDArray[np.float64]:
    """Return what each context counts in the mean over a pole."""
    sizes = np.array([len(word) for word in words])
    if words_alike:
        return np.repeat(1 / (len(sizes) * sizes), sizes)
    return np.full(sizes.sum(), 1 / sizes.sum())


def sample_draws(
    rng: np.random.Generator, n_contexts: Sequence[int], n_draws: int
) -> npt.NDArray[np.int64]:
    """Return (n_draws, n_words) contexts, each picked uniformly; `n_contexts` counts a word's."""
    return np.stack([rng.integers(n, size=n_draws) for n in n_contexts], axis=1)


def _effect(first: npt.NDArray[np.float64], second: npt.NDArray[np.float64]) -> Effect:
    both = np.concatenate([first, second])
    spread = float(both.std(ddof=1)) if len(both) > 1 else 0.0
    if not spread > 0:
        return Effect(float("nan"), len(both), CONSTANT)
    return Effect(float((first.mean() - second.mean()) / spread), len(both))
