"""Krippendorff's alpha of free texts: how far annotators write the same, beyond chance.

    α = 1 − D_o / D_e

Deas et al. (2023) Appendix D, eq. 1, after Braylan et al. (2022). D is the Levenshtein distance.
D_o is its mean over all items and pairs of annotators that both annotated the item. D_e has three
definitions:

``exact``
    the mean over all pairs of annotations of *different* items, whoever wrote them: no chance, no
    seed, and no annotation is ever compared with another of its own item.
``shuffle``
    the paper's: for every pair of annotators one side is shuffled over their common items. Its
    expectation is stated exactly, Σ_p (1/n_p) Σ_ij D(a_i, b_j) / Σ_p n_p, and a simulation beside
    it with its standard error. An item may meet itself, so that it lies below ``exact``.
``krippendorff``
    the coincidence-weighted form: an item with m annotations has weight 1/(m − 1) in D_o, and D_e
    is the mean over all pairs of pairable annotations, those of the same item included.

Intervals resample items. D_e is a mean over pairs of items; in a resample it is replaced by its
projection on single items (Hájek): D_e(w) = Σ w_u e_u / Σ w_u q_u with sums that are computed
once. The terms left out are of relative order 1/n_items, so the interval of a handful of items is
slightly too narrow; in return 2,000 resamples take no new distance.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.estimate import Estimate
from evaluation.metrics.few_units import LEAST_RESAMPLED
from evaluation.metrics.interval import Interval, bias_corrected_interval, no_interval
from evaluation.metrics.levenshtein_sums import (
    EXPECTED,
    Annotations,
    Expected,
    ItemStatistics,
    item_statistics,
)
from evaluation.metrics.shown import Shown
from evaluation.metrics.text_distance import Distance
from evaluation.metrics.undefined import UndefinedReason

_RESAMPLED_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class LevenshteinAlpha:
    """Agreement of free texts.

    value : at most 1; 0 = as far apart as annotations of different items; NaN = undefined
    low, high : interval from resampled items, NaN where there is none
    observed, expected : D_o and D_e, in symbols, or a share of the longer text
    n_items : items with an annotation; n_overlap : those with two or more
    n_annotations : annotations of all items
    n_pairs : pairs of annotations of the same item
    n_resamples, seed : of the interval; n_resamples counts those that could be computed
    """

    value: float
    low: float
    high: float
    observed: float
    expected: float
    n_items: Annotated[int, Shown(name="n_texts")]
    n_overlap: Annotated[int, Shown("Texts in common", 0)]
    n_annotations: Annotated[int, Shown("Counterparts", 0)]
    n_pairs: int
    distance: Distance
    expected_by: Expected
    level: float
    n_resamples: int
    seed: int
    reason: str = UndefinedReason.NONE
    interval_reason: str = UndefinedReason.NONE

    @property
    def estimate(self) -> Annotated[Estimate, Shown("α", 2, name="alpha", style="strong")]:
        """Its n are the items with two annotations or more."""
        return Estimate(
            self.value, self.low, self.high, self.n_overlap, self.reason, self.interval_reason
        )


@dataclass(frozen=True)
class ShuffledDistance:
    """A simulation of the paper's D_e; NaN with a reason where no two annotators share an item.

    mean : over shuffles; standard_error : of that mean; n : shuffles
    """

    mean: float
    standard_error: float
    n: int
    seed: int
    reason: str = UndefinedReason.NONE


def levenshtein_alpha(
    items: Sequence[Hashable],
    annotators: Sequence[Hashable],
    texts: Sequence[str],
    *,
    distance: Distance = "characters",
    expected: Expected = "exact",
    n_resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> LevenshteinAlpha:
    """Return alpha of annotations given as three lists of equal length.

    items, annotators, texts : (n_annotations,) what was annotated, by whom, and what they wrote
    distance : over ``characters``, ``words``, or ``normalized``: characters as a share of the
        longer text
    expected : the definition of D_e, see the module
    n_resamples : 0 for no interval

    Undefined with a reason where no item has two annotations, where all belong to one item, and
    where D_e is 0. Raises ValueError where somebody annotated an item twice.
    """
    (found,) = levenshtein_alphas(
        items,
        annotators,
        texts,
        [np.ones(len(texts), dtype=bool)],
        distance=distance,
        expected=expected,
        n_resamples=n_resamples,
        seed=seed,
        level=level,
    )
    return found


def levenshtein_alphas(
    items: Sequence[Hashable],
    annotators: Sequence[Hashable],
    texts: Sequence[str],
    subsets: Sequence[NDArray[np.bool_]],
    *,
    distance: Distance = "characters",
    expected: Expected = "exact",
    n_resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> list[LevenshteinAlpha]:
    """Return alpha of several subsets of the annotations, every distance computed once.

    subsets : of (n_annotations,), True = belongs to the subset

    Otherwise as `levenshtein_alpha`: each value is what that gives for the subset alone.
    """
    if expected not in EXPECTED:
        raise ValueError(f"expected is '{expected}', expected one of {', '.join(EXPECTED)}")
    data = Annotations(items, annotators, texts, distance)
    statistics = item_statistics(data, subsets, expected)
    return [
        _alpha(
            data,
            np.asarray(subset, dtype=bool),
            rows,
            expected=expected,
            n_resamples=n_resamples,
            seed=seed,
            level=level,
        )
        for subset, rows in zip(subsets, statistics, strict=True)
    ]


def simulate_shuffled_distance(
    items: Sequence[Hashable],
    annotators: Sequence[Hashable],
    texts: Sequence[str],
    *,
    distance: Distance = "characters",
    n: int = 400,
    seed: int = 0,
) -> ShuffledDistance:
    """Return D_e as the paper estimates it, from `n` shuffles."""
    if n < 2:
        raise ValueError(f"n is {n}, but a standard error needs at least two shuffles")
    data = Annotations(items, annotators, texts, distance)
    common = data.common_items(np.ones(len(texts), dtype=bool))
    if not common:
        return ShuffledDistance(np.nan, np.nan, 0, seed, UndefinedReason.NO_TEXT_TWICE)
    rng = np.random.default_rng(seed)
    means = np.empty(n)
    left = np.concatenate([first for first, _ in common])
    for i in range(n):
        right = np.concatenate([rng.permutation(second) for _, second in common])
        means[i] = data.encoded.between(data.text[left], data.text[right]).mean()
    return ShuffledDistance(float(means.mean()), float(means.std(ddof=1) / np.sqrt(n)), n, seed)


def _alpha(
    data: Annotations,
    subset: NDArray[np.bool_],
    rows: ItemStatistics,
    *,
    expected: Expected,
    n_resamples: int,
    seed: int,
    level: float,
) -> LevenshteinAlpha:
    m = data.count(subset)
    n_pairs, n_chance = rows.p.sum(), rows.q.sum()
    d_o = float(rows.o.sum() / n_pairs) if n_pairs else np.nan
    d_e = float(rows.e.sum() / n_chance) if n_chance else np.nan
    reason = UndefinedReason.NONE
    if not n_pairs:
        reason = UndefinedReason.NO_TEXT_TWICE
    elif not n_chance:
        reason = UndefinedReason.ONE_ITEM
    elif d_e == 0:
        reason = UndefinedReason.NO_VARIATION
    value = np.nan if reason else 1 - d_o / d_e
    interval = _interval(value, rows, m > 0, n_resamples, seed, level)
    return LevenshteinAlpha(
        value=value,
        low=interval.low,
        high=interval.high,
        observed=d_o,
        expected=d_e,
        n_items=int((m > 0).sum()),
        n_overlap=int((m > 1).sum()),
        n_annotations=int(m.sum()),
        n_pairs=int(data.inside(subset).sum()),
        distance=data.distance,
        expected_by=expected,
        level=level,
        n_resamples=interval.n_resamples,
        seed=seed,
        reason=reason,
        interval_reason=interval.reason,
    )


def _interval(
    value: float,
    rows: ItemStatistics,
    present: NDArray[np.bool_],
    n_resamples: int,
    seed: int,
    level: float,
) -> Interval:
    if np.isnan(value):
        return no_interval(UndefinedReason.NO_ESTIMATE, level=level)
    if n_resamples == 0:
        return no_interval(UndefinedReason.NOT_REQUESTED, level=level)
    sums = np.column_stack([part[present] for part in (rows.o, rows.p, rows.e, rows.q)])
    rng = np.random.default_rng(seed)
    n = len(sums)
    if int((rows.p > 0).sum()) < LEAST_RESAMPLED:
        return no_interval(UndefinedReason.FEW_TEXTS, level=level)
    resamples = np.full(n_resamples, np.nan)
    at_once = max(_RESAMPLED_AT_ONCE // n, 1)
    for start in range(0, n_resamples, at_once):
        size = min(at_once, n_resamples - start)
        o, p, e, q = sums[rng.integers(n, size=(size, n))].sum(axis=1).T
        usable = (p > 0) & (q > 0) & (e > 0)
        ratio = np.divide(o * q, p * e, out=np.full(size, np.nan), where=usable)
        resamples[start : start + size] = 1 - ratio
    return bias_corrected_interval(value, resamples, level=level, bounds=(-np.inf, 1.0))
