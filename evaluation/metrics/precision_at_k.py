"""Precision at k: do the model's strongest scales lie on the side where people put them?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.undefined import UndefinedReason


@dataclass(frozen=True)
class PrecisionAtK:
    """Precision at k of one group.

    top, bottom, mean : 0 to 1, NaN where undefined
    k : places filled at either end
    n : scales with both a score and a human mean
    reason : why the values are NaN, empty otherwise
    """

    top: float
    bottom: float
    mean: float
    k: int
    n: int
    reason: str = UndefinedReason.NONE


@dataclass(frozen=True)
class PrecisionBatch:
    """Precision at k for every row of a batch: top, bottom, mean, each (n_batch,)."""

    top: NDArray[np.float64]
    bottom: NDArray[np.float64]
    mean: NDArray[np.float64]


def precision_at_k(
    scores: ArrayLike, human_means: ArrayLike, *, k: int = 3, center: float = 50.0
) -> PrecisionAtK:
    """Return precision at k of one group's scores against the human means.

    scores : (n,) model scores, positive toward the 100 pole, NaN = missing
    human_means : (n,) means of ratings, NaN = missing
    k : how many scales at either end
    center : the neutral rating

    top = share of the k highest-scored scales with a human mean above the center;
    bottom = share of the k lowest-scored scales with a human mean below it; mean of the two.
    A mean exactly at the center counts for neither; ties in the scores keep the order of the
    scales. Cao et al. (2022) §5.1. Fewer than k complete scales give NaN and a reason.
    """
    x, h = np.asarray(scores, dtype=float), np.asarray(human_means, dtype=float)
    if x.ndim != 1 or x.shape != h.shape:
        raise ValueError(f"two lists of equal length are needed, got shapes {x.shape}, {h.shape}")
    _validate_k(k)
    n = int(np.sum(~(np.isnan(x) | np.isnan(h))))
    if n < k:
        return PrecisionAtK(np.nan, np.nan, np.nan, k, n, UndefinedReason.FEWER_THAN_K)
    batch = precision_at_k_batch(x, h[None, :], k=k, center=center)
    return PrecisionAtK(float(batch.top[0]), float(batch.bottom[0]), float(batch.mean[0]), k, n)


def precision_at_k_batch(
    scores: ArrayLike,
    human_means: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    k: int = 3,
    center: float = 50.0,
) -> PrecisionBatch:
    """Return precision at k for every row of a batch of human means.

    scores : (n,) model scores, the same for every row, NaN = missing
    human_means : (n_batch, n), NaN = missing
    weights : None, or (n_batch, n) counts ≥ 0: how often a scale was drawn in a resample; a
        scale drawn twice fills two places

    returns : NaN where a row has fewer than k scales.
    """
    x, h = np.asarray(scores, dtype=float), np.asarray(human_means, dtype=float)
    if h.ndim != 2 or x.shape != h.shape[1:]:
        raise ValueError(f"shapes {x.shape} and {h.shape} do not fit: (n,) and (n_batch, n)")
    _validate_k(k)
    w = np.ones(h.shape) if weights is None else np.asarray(weights, dtype=float)
    if w.shape != h.shape:
        raise ValueError(f"weights have shape {w.shape}, expected {h.shape}")
    w = np.where(np.isnan(x) | np.isnan(h), 0.0, w)
    filled = w.sum(axis=1) >= k
    top = _share(np.argsort(-x, kind="stable"), h > center, w, k)
    bottom = _share(np.argsort(x, kind="stable"), h < center, w, k)
    top, bottom = np.where(filled, top, np.nan), np.where(filled, bottom, np.nan)
    return PrecisionBatch(top, bottom, (top + bottom) / 2)


def _share(
    order: NDArray[np.intp], on_side: NDArray[np.bool_], w: NDArray[np.float64], k: int
) -> NDArray[np.float64]:
    """Walk down the order and fill k places, a scale as often as it was drawn."""
    drawn = w[:, order]
    before = np.cumsum(drawn, axis=1) - drawn
    places = np.clip(k - before, 0.0, drawn)
    return np.sum(places * on_side[:, order], axis=1) / k


def _validate_k(k: int) -> None:
    if k < 1:
        raise ValueError(f"k is {k}, expected a whole number from 1")
