"""Markedness: how much of a group's deviation the mere mention of any group explains.

Kohankhaki et al. (unstated norms): a sentence about “the person” and one about “the White person”
differ already in that the second names something that mostly goes without saying. Ours:

    D(g, t) = S(g, t) − S(unmarked, t)            the group's deviation from the unmarked sentence
    M(g, t) = mean of D(h, t) over all other groups h     what naming a group does on average
    explained(g) = 1 − Σ_t (D(g, t) − M(g, t))² / Σ_t D(g, t)²

1 means that the group deviates exactly as any group does, 0 or less that mention explains nothing.

D is the mean over the templates that score both the group and the unmarked sentence. An error of
the unmarked sentence enters the deviations of all groups alike and looks like mention, so that no
interval of the share is known to hold. The interval of an effect takes it from the differences
between templates, and none is given for a single template.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd, stats
from evaluation.analyses.resample_options import ResamplingOptions
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.known_values import mean_of_known, quotient
from evaluation.metrics.shown import Shown
from evaluation.metrics.undefined import UndefinedReason

Floats = NDArray[np.float64]

UNMARKED = "unmarked"

TOO_FEW_GROUPS = "there is no other group to compare with"
ONE_GROUP = "an interval over groups needs at least two"
ONE_TEMPLATE = (
    "the unmarked sentence was scored in one template alone, so that its error is unknown; use two "
    "templates or more"
)
NO_SCORES = "no trait has a score for this group and for the unmarked sentence"
NO_DEVIATION = "the group does not deviate from the unmarked sentence"
SHARE_OF_SQUARES = "noise of the unmarked sentence looks like mention, so that none would hold"


@dataclass(frozen=True)
class MarkednessOptions(ResamplingOptions):
    """`unmarked`: slug of the baseline; the other options are those of the bootstrap."""

    unmarked: str = UNMARKED


@dataclass(frozen=True)
class GroupMarkedness:
    """A group beside the unmarked sentence; NaN with a reason where undefined.

    deviation : root mean square of D over traits, in the measure's unit
    residual : root mean square of D − M, what mention leaves unexplained
    explained : share of the squared deviation that mention explains, at most 1
    low, high : NaN: no interval is known to hold
    """

    group: str
    deviation: Annotated[float, Shown("Deviation", 3, unit="the measure’s")]
    residual: Annotated[float, Shown("Unexplained", 3, unit="the measure’s")]
    explained: float
    low: float
    high: float
    n_traits: Annotated[int, Shown("Traits", 0)]
    reason: Annotated[str, Shown(meaning="why there is no share")] = ""
    interval_reason: str = ""

    @property
    def share(self) -> Estimate:
        return Estimate(
            self.explained, self.low, self.high, self.n_traits, self.reason, self.interval_reason
        )


@dataclass(frozen=True)
class TraitMention:
    """What naming a group does to a trait on average, with the share of groups on its side.

    low, high : t interval of the effect over groups and templates, NaN for a single one of either
    """

    trait: str
    effect: float
    low: float
    high: float
    sd: Annotated[float, Shown("SD", 3, unit="the measure’s")]
    same_sign: Annotated[
        float,
        Shown(
            "Groups on its side, %",
            0,
            scale=100,
            meaning="share of the groups whose deviation has the sign of the effect",
        ),
    ]
    n_groups: Annotated[int, Shown("Groups", 0)]
    interval_reason: str = ""

    @property
    def estimate(self) -> Estimate:
        reason = "" if self.n_groups else UndefinedReason.NO_GROUP_SCORED
        return Estimate(
            self.effect, self.low, self.high, self.n_groups, reason, self.interval_reason
        )


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
    interval_reason: str = ""
    n_templates: int = 0

    @property
    def share(self) -> Estimate:
        return Estimate(
            self.explained, self.low, self.high, self.n_cells, self.reason, self.interval_reason
        )


def analyze_markedness(
    scores: pd.DataFrame, groups: Sequence[str], options: MarkednessOptions | None = None
) -> Markedness:
    """Return how far the mere mention of a group explains the groups' deviations.

    scores : (n_templates · n_groups, n_traits), index = template, group with the unmarked baseline
        among the groups, columns = trait, NaN = missing
    groups : the marked groups

    Raises ValueError without the baseline's row, for groups without a row, and where the baseline
    is among the groups.
    """
    chosen = options or MarkednessOptions()
    found = scores.index.get_level_values("group")
    if chosen.unmarked not in found:
        raise ValueError(f"the scores have no row '{chosen.unmarked}', the unmarked sentence")
    if chosen.unmarked in groups:
        raise ValueError("the unmarked sentence is the baseline and no group")
    absent = [group for group in groups if group not in found]
    if absent:
        raise ValueError(f"'{absent[0]}' has no scores")
    by_template = _deviations(scores, groups, chosen.unmarked)
    deviations = mean_of_known(by_template, axis=0)
    squares = _Squares(deviations)
    rows = []
    for i, name in enumerate(groups):
        there = np.isfinite(deviations[i])
        n = int(squares.usable[i].sum())
        reason = "" if n else TOO_FEW_GROUPS if there.any() else NO_SCORES
        share = _share(squares, [i], reason)
        size = np.sqrt(np.mean(deviations[i][there] ** 2)) if there.any() else np.nan
        residual = np.sqrt(squares.left[i].sum() / n) if n else np.nan
        rows.append(
            GroupMarkedness(
                group=name,
                deviation=float(np.sqrt(squares.total[i].sum() / n) if n else size),
                residual=float(residual),
                explained=share.value,
                low=share.low,
                high=share.high,
                n_traits=n,
                reason=str(share.reason),
                interval_reason=str(share.interval_reason),
            )
        )
    everyone = list(range(len(groups)))
    alone = TOO_FEW_GROUPS if len(groups) == 1 else ""
    share = _share(squares, everyone, alone)
    return Markedness(
        options=chosen,
        explained=share.value,
        low=share.low,
        high=share.high,
        n_cells=int(squares.usable.sum()),
        by_group=tuple(rows),
        by_trait=tuple(
            _trait(str(name), by_template[:, :, t], deviations[:, t], chosen.level)
            for t, name in enumerate(scores.columns)
        ),
        reason=str(share.reason),
        interval_reason=str(share.interval_reason),
        n_templates=len(by_template),
    )


def _deviations(scores: pd.DataFrame, groups: Sequence[str], unmarked: str) -> Floats:
    """Return D by template, (n_templates, n_groups, n_traits), NaN where either has no score."""
    templates = scores.index.get_level_values("template").unique()
    names = [unmarked, *groups]
    cells = [
        scores.xs(template, level="template").reindex(names).to_numpy(dtype=float)
        for template in templates
    ]
    values = np.stack(cells)
    deviations: Floats = values[:, 1:] - values[:, :1]
    return deviations


class _Squares:
    """Squared deviations and what mention leaves of them, (n_groups, n_traits) each."""

    def __init__(self, deviations: Floats) -> None:
        mention = _mean_of_others(deviations)
        self.usable = np.isfinite(deviations) & np.isfinite(mention)
        self.total = np.where(self.usable, deviations**2, 0.0)
        self.left = np.where(self.usable, (deviations - mention) ** 2, 0.0)

    def explained(self, groups: Sequence[int]) -> float:
        """Return 1 − left / total over these groups, NaN without deviation."""
        return float(1 - quotient(self.left[groups].sum(), self.total[groups].sum()))


def _mean_of_others(deviations: Floats) -> Floats:
    """Return, per group and trait, the mean deviation of all other groups; NaN without any.

    deviations : (n_groups, n_traits)
    """
    there = np.isfinite(deviations)
    values = np.where(there, deviations, 0.0)
    total, count = values.sum(axis=0), there.sum(axis=0)
    return quotient(total - values, count - there)


def _share(squares: _Squares, groups: Sequence[int], reason: str) -> Estimate:
    value = squares.explained(groups)
    if reason or np.isnan(value):
        return no_estimate(reason or NO_DEVIATION)
    return Estimate(value, interval_reason=SHARE_OF_SQUARES)


def _trait(name: str, by_template: Floats, deviations: Floats, level: float) -> TraitMention:
    """Return the mean effect with the interval of a mean over groups crossed with templates.

    by_template : (n_templates, n_groups); deviations : (n_groups,)

    Its variance is s²(means of groups)/G + s²(means of templates)/K, which counts the noise of
    single cells twice; degrees of freedom after Satterthwaite (1946).
    """
    values = deviations[np.isfinite(deviations)]
    n = len(values)
    if not n:
        return TraitMention(name, np.nan, np.nan, np.nan, np.nan, np.nan, 0)
    effect = float(values.mean())
    scored = by_template[np.isfinite(by_template).any(axis=1)]
    sd = float(values.std(ddof=1)) if n > 1 else np.nan
    half, reason = np.nan, ONE_GROUP if n == 1 else ONE_TEMPLATE
    if n > 1 and len(scored) > 1:
        parts = np.array([sd**2 / n, np.nanmean(scored, axis=1).var(ddof=1) / len(scored)])
        freedom = np.array([n - 1, len(scored) - 1])
        df = parts.sum() ** 2 / (parts**2 / freedom).sum() if parts.any() else np.inf
        half = float(stats.t.ppf((1 + level) / 2, df) * np.sqrt(parts.sum()))
        reason = ""
    return TraitMention(
        trait=name,
        effect=effect,
        low=effect - half,
        high=effect + half,
        sd=sd,
        same_sign=float(np.mean(np.sign(values) == np.sign(effect))),
        n_groups=n,
        interval_reason=reason,
    )
