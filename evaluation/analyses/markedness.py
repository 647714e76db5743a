"""Markedness: how much of a group's deviation the mere mention of any group explains.

Kohankhaki et al. (unstated norms): a sentence about “the person” and one about “the White person”
differ already in that the second names something that mostly goes without saying. Ours:

    D(g, t) = S(g, t) − S(unmarked, t)            the group's deviation from the unmarked sentence
    M(g, t) = mean of D(h, t) over all other groups h     what naming a group does on average
    explained(g) = 1 − Σ_t (D(g, t) − M(g, t))² / Σ_t D(g, t)²

1 means that the group deviates exactly as any group does, 0 or less that mention explains nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

UNMARKED = "unmarked"

TOO_FEW_GROUPS = "there is no other group to compare with"
NO_SCORES = "no trait has a score for this group and for the unmarked sentence"
NO_DEVIATION = "the group does not deviate from the unmarked sentence"


@dataclass(frozen=True)
class MarkednessOptions:
    """`unmarked`: slug of the baseline; the other options are those of the bootstrap."""

    unmarked: str = UNMARKED
    seed: int = 0
    n_resamples: int = 2000
    level: float = 0.95


@dataclass(frozen=True)
class GroupMarkedness:
    """A group beside the unmarked sentence; NaN with a reason where undefined.

    deviation : root mean square of D over traits, in the measure's unit
    residual : root mean square of D − M, what mention leaves unexplained
    explained : share of the squared deviation that mention explains, at most 1; its interval
        resamples traits
    """

    group: str
    deviation: float
    residual: float
    explained: float
    low: float
    high: float
    n_traits: int
    reason: str = ""


@dataclass(frozen=True)
class TraitMention:
    """What naming a group does to a trait on average, with the share of groups on its side.

    low, high : t interval of the effect over groups, NaN for a single one
    """

    trait: str
    effect: float
    low: float
    high: float
    sd: float
    same_sign: float
    n_groups: int


@dataclass(frozen=True)
class Markedness:
    """The check for all groups. `explained` is over all groups and traits together."""

    options: MarkednessOptions
    explained: float
    low: float
    high: float
    n_cells: int
    by_group: tuple[GroupMarkedness, ...]
    by_trait: tuple[TraitMention, ...]
    reason: str = ""


def analyse_markedness(
    scores: pd.DataFrame, groups: Sequence[str], options: MarkednessOptions | None = None
) -> Markedness:
    """Return how far the mere mention of a group explains the groups' deviations.

    scores : (n_groups, n_traits), index = group with the unmarked baseline among them, columns =
        trait, NaN = missing
    groups : the marked groups

    Raises ValueError without the baseline's row, for groups without a row, and where the baseline
    is among the groups.
    """
    chosen = options or MarkednessOptions()
    if chosen.unmarked not in scores.index:
        raise ValueError(f"the scores have no row '{chosen.unmarked}', the unmarked sentence")
    if chosen.unmarked in groups:
        raise ValueError("the unmarked sentence is the baseline and no group")
    absent = [group for group in groups if group not in scores.index]
    if absent:
        raise ValueError(f"'{absent[0]}' has no scores")
    baseline = scores.loc[chosen.unmarked].to_numpy(dtype=float)
    deviations = scores.loc[list(groups)].to_numpy(dtype=float) - baseline
    mention = _mean_of_others(deviations)
    rng = np.random.default_rng(chosen.seed)
    n_traits = deviations.shape[1]
    draws = rng.integers(n_traits, size=(chosen.n_resamples, n_traits))
    rows = tuple(
        _group(name, deviations[i], mention[i], draws, chosen.level)
        for i, name in enumerate(groups)
    )
    usable = np.isfinite(deviations) & np.isfinite(mention)
    total = np.where(usable, deviations**2, 0.0).sum(axis=0)
    left = np.where(usable, (deviations - mention) ** 2, 0.0).sum(axis=0)
    explained, low, high, reason = _explained(total, left, draws, chosen.level)
    return Markedness(
        options=chosen,
        explained=explained,
        low=low,
        high=high,
        n_cells=int(usable.sum()),
        by_group=rows,
        by_trait=tuple(
            _trait(str(name), deviations[:, t], chosen.level)
            for t, name in enumerate(scores.columns)
        ),
        reason=reason if len(groups) > 1 else TOO_FEW_GROUPS,
    )


def _mean_of_others(deviations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, per group and trait, the mean deviation of all other groups; NaN without any."""
    there = np.isfinite(deviations)
    values = np.where(there, deviations, 0.0)
    total, count = values.sum(axis=0), there.sum(axis=0)
    others = count - there
    return np.divide(
        total - values, others, out=np.full(deviations.shape, np.nan), where=others > 0
    )


def _group(
    name: str,
    deviation: NDArray[np.float64],
    mention: NDArray[np.float64],
    draws: NDArray[np.int64],
    level: float,
) -> GroupMarkedness:
    there = np.isfinite(deviation)
    usable = there & np.isfinite(mention)
    n = int(usable.sum())
    if not n:
        reason = TOO_FEW_GROUPS if there.any() else NO_SCORES
        size = float(np.sqrt(np.mean(deviation[there] ** 2))) if there.any() else np.nan
        return GroupMarkedness(name, size, np.nan, np.nan, np.nan, np.nan, 0, reason)
    total = np.where(usable, deviation**2, 0.0)
    left = np.where(usable, (deviation - mention) ** 2, 0.0)
    explained, low, high, reason = _explained(total, left, draws, level)
    return GroupMarkedness(
        group=name,
        deviation=float(np.sqrt(total.sum() / n)),
        residual=float(np.sqrt(left.sum() / n)),
        explained=explained,
        low=low,
        high=high,
        n_traits=n,
        reason=reason,
    )


def _explained(
    total: NDArray[np.float64],
    left: NDArray[np.float64],
    draws: NDArray[np.int64],
    level: float,
) -> tuple[float, float, float, str]:
    """Return 1 − left / total with its percentile interval over resampled traits."""
    if not total.sum() > 0:
        return np.nan, np.nan, np.nan, NO_DEVIATION
    sums, lefts = total[draws].sum(axis=1), left[draws].sum(axis=1)
    drawn = sums > 0
    resampled = 1 - lefts[drawn] / sums[drawn]
    low, high = (
        np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2])
        if drawn.any()
        else (np.nan, np.nan)
    )
    return float(1 - left.sum() / total.sum()), float(low), float(high), ""


def _trait(name: str, deviations: NDArray[np.float64], level: float) -> TraitMention:
    values = deviations[np.isfinite(deviations)]
    n = len(values)
    if not n:
        return TraitMention(name, np.nan, np.nan, np.nan, np.nan, np.nan, 0)
    effect = float(values.mean())
    sd = float(values.std(ddof=1)) if n > 1 else np.nan
    half = float(stats.t.ppf((1 + level) / 2, n - 1)) * sd / np.sqrt(n) if n > 1 else np.nan
    return TraitMention(
        trait=name,
        effect=effect,
        low=effect - half,
        high=effect + half,
        sd=sd,
        same_sign=float(np.mean(np.sign(values) == np.sign(effect))),
        n_groups=n,
    )
