"""Association scores: how much more likely an attribute is after one guise than after the other.

Hofmann et al. (2024), Methods, Probing; methods.md §10.2. The paper writes log, its released code
and its printed numbers use base 10.
"""

from __future__ import annotations

from typing import TypeAlias

from annotation.common.lazy import np, npt
from probing.measures.guise_stimuli import Base

Floats: TypeAlias = "npt.NDArray[np.float64]"


def paired_association(
    first: npt.ArrayLike, second: npt.ArrayLike, *, base: Base = "10"
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the mean log ratio over pairs, and how many pairs went in.

    first, second : (…, n_pairs, n_attributes) ln P(attribute | text), NaN = missing

    q(x) = 1/n Σ_i log10(P(x | a_i) / P(x | s_i)). Both (…, n_attributes); NaN for no pair.
    """
    ratios = log_ratios(first, second, base=base)
    there = ~np.isnan(ratios)
    n = there.sum(axis=-2)
    return _divide(np.where(there, ratios, 0.0).sum(axis=-2), n), n


def log_ratios(first: npt.ArrayLike, second: npt.ArrayLike, *, base: Base = "10") -> Floats:
    """Return log10(P(x | a_i) / P(x | s_i)) of every pair; shapes as `paired_association`."""
    a, s = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != s.shape:
        raise ValueError(f"pairs have two sides of one shape, got {a.shape} and {s.shape}")
    return (a - s) / _unit(base)


def pooled_association(
    first: npt.ArrayLike, second: npt.ArrayLike, *, base: Base = "10"
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Return the log ratio of the mean probabilities, and the texts of the smaller set.

    first, second : (…, n_texts, n_attributes) ln P(attribute | text), NaN = missing

    q(x) = log10(mean_i P(x | a_i) / mean_i P(x | s_i)): with sets of one size the ratio of the
    paper's sums. Both (…, n_attributes); NaN where a side has no text.
    """
    means, counts = [], []
    for side in (first, second):
        values = np.asarray(side, dtype=np.float64)
        n = (~np.isnan(values)).sum(axis=-2)
        means.append(log_mean_exp(values))
        counts.append(n)
    return (means[0] - means[1]) / _unit(base), np.minimum(*counts)


def log_mean_exp(values: Floats) -> Floats:
    """Return ln of the mean probability over texts, (…, n_attributes); NaN are left out."""
    there = ~np.isnan(values)
    n = there.sum(axis=-2)
    filled = np.where(there, values, -np.inf)
    if not values.shape[-2]:
        return np.full(n.shape, np.nan)
    top = filled.max(axis=-2)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        found = top + np.log(_divide(np.exp(filled - top[..., None, :]).sum(axis=-2), n))
    return np.where(n > 0, found, np.nan)


def _unit(base: Base) -> float:
    return float(np.log(10.0)) if base == "10" else 1.0


def _divide(total: Floats, n: npt.NDArray[np.int64]) -> Floats:
    return np.divide(total, n, out=np.full(np.shape(total), np.nan), where=n > 0)
