"""How a model's ranking of attributes agrees with those that people named most.

Hofmann et al. (2024), Methods, Covert-stereotype analysis; methods.md §11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

#: MAP is the mean of AP over the human top 1 to top 5.
DEPTH = 5


def rank_attributes(scores: Mapping[str, float]) -> tuple[str, ...]:
    """Return the attributes with a score, the highest first; ties by alphabet (ours)."""
    known = [name for name, score in scores.items() if not np.isnan(score)]
    return tuple(sorted(known, key=lambda name: (-scores[name], name)))


def human_top(percentages: Mapping[str, float], attributes: Sequence[str], k: int) -> list[str]:
    """Return the k attributes that most people named, out of those that the model was asked for.

    percentages : attribute → share of people who named it, in any unit

    Attributes that the study does not list are left out; ties go by alphabet.
    """
    known = sorted(name for name in attributes if name in percentages)
    return sorted(known, key=lambda name: -percentages[name])[:k]


def map_of_ranks(ranks: ArrayLike) -> Floats:
    """Return MAP for many rankings at once: the mean of AP over the human top 1 to `depth`.

    ranks : (…, depth) rank of the human first, second, … from 1; infinite = not in the ranking

    AP(H, R) = 1/|H| Σ over ranks i with R_i in H of |{R_1..R_i} ∩ H| / i. Members of H that the
    ranking lacks count in |H|.

    Of the first k, in ascending order of rank, the j-th adds j / rank.
    """
    places = np.asarray(ranks, dtype=np.float64)
    found = []
    for k in range(1, places.shape[-1] + 1):
        ascending = np.sort(places[..., :k], axis=-1)
        found.append((np.arange(1, k + 1) / ascending).sum(axis=-1) / k)
    return np.mean(found, axis=0)


def ranks_of(scores: ArrayLike, chosen: Sequence[int]) -> Floats:
    """Return the ranks of some attributes in many rankings, (…, n_chosen), from 1.

    scores : (…, n_attributes), attributes in alphabetical order, which decides ties; NaN is last,
        and its rank infinite
    """
    values = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-values, axis=-1, kind="stable")  # NaN last
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, np.arange(1.0, values.shape[-1] + 1), axis=-1)
    ranks[np.isnan(values)] = np.inf
    return ranks[..., list(chosen)]


def expected_map(n_attributes: int, depth: int = DEPTH) -> float:
    """Return the mean of MAP over all rankings of so many attributes.

    E[AP_k] = Σ_{p=1..m} 1/(m p) (1 + (p − 1)(k − 1)/(m − 1)); the mean over k.
    """
    m, p = n_attributes, np.arange(1, n_attributes + 1)
    spread = max(m - 1, 1)
    values = [
        np.sum((1 + (p - 1) * (k - 1) / spread) / (m * p)) for k in range(1, min(depth, m) + 1)
    ]
    return float(np.mean(values))


def permutation_null(
    scores: ArrayLike, depth: int, *, n_permutations: int, rng: np.random.Generator
) -> Floats:
    """Return the mean MAP over rankings when the attributes of people are drawn by chance.

    scores : (n_rankings, n_attributes) in alphabetical order
    depth : how many attributes people named, at most 5

    One draw exchanges the attributes alike in all rankings, so that rankings that resemble each
    other do not count as independent evidence (ours; the paper takes single rankings).
    (n_permutations,); with one ranking the paper's null distribution.
    """
    values = np.asarray(scores, dtype=np.float64)
    n_attributes = values.shape[-1]
    ranks = ranks_of(values, range(n_attributes))
    keys = rng.random((n_permutations, n_attributes))
    drawn = np.argsort(keys, axis=1)[:, :depth]
    return np.mean([map_of_ranks(line[drawn]) for line in ranks], axis=0)
