"""Kendall's tau with the noise of people's means taken out, and how far it may be trusted.

The means of few ratings are noisy, and noise lowers tau. Resampling adds the same noise a second
time, so percentiles of resampled taus miss the tau that the means of infinitely many people would
give. Here it is computed in closed form (`shared/methods.md`, section 7):

    r = sin(π τ / 2) / √rel,    rel = 1 − mean(s² / n) / var(cell means),    τ = 2/π · arcsin r

with s² the pooled variance within cells. Greiner's relation between tau and the correlation r of
normal values (Kendall and Gibbons 1990, ch. 9); rel is the reliability of the means, and √rel
Spearman's (1904) correction for attenuation.

Two questions are asked of it. *For these groups*: what if other people had rated them? Every
person's influence on r, squared and summed (Efron 1982, ch. 6, the infinitesimal jackknife). The
sign of a difference between two means jumps; its slope is that of 2 Φ(difference / width) − 1,
with a width in proportion to the standard error of the difference. *For groups like these*: the
delete-one-group jackknife of tau (Tukey 1958), Student's t with one degree of freedom fewer than
groups; cells of one group are not independent, whole groups are. Coverage: docs/coverage.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.tau_answers import Answer, jackknife_answer, student_answer
from evaluation.metrics import UndefinedReason
from evaluation.metrics.rank_correlation import MINIMUM_PAIRS

#: Width of the smooth sign in standard errors of a difference between two means. Wider ones take
#: too little spread for the truth, narrower ones too much, as the simulation shows.
KERNEL_WIDTH = 0.35

Array = NDArray[np.float64]
NO_ARRAY: Array = np.empty(0)


@dataclass(frozen=True)
class TrueTau:
    """A tau without noise, with what its intervals are made of.

    correlation : r, not cut at ±1; NaN with a reason
    reliability : of the means of the cells, below 0 where they differ less than noise does
    by_person : (n_people,) influence of every person on r, 0 for those without a rating
    without_group : (n_groups,) r without each of the groups that have cells
    n_people : those with a rating
    """

    correlation: float
    reliability: float = np.nan
    by_person: Array = field(default_factory=lambda: NO_ARRAY)
    without_group: Array = field(default_factory=lambda: NO_ARRAY)
    n_people: int = 0
    reason: str = UndefinedReason.NONE

    @property
    def tau(self) -> float:
        return float(to_tau(self.correlation))

    def noise_free(self, level: float) -> Answer:
        """Return tau for these groups; the interval says what other people would give.

        It is Student's on the scale of r, with one degree of freedom fewer than people.
        """
        if self.reason:
            return Answer(np.nan, reason=self.reason, interval_reason=UndefinedReason.NO_ESTIMATE)
        error = float(np.sqrt(np.sum(self.by_person**2)))
        found = student_answer(
            self.correlation, error, self.n_people, level, UndefinedReason.ONE_RATER
        )
        low, high = (float(to_tau(end)) for end in (found.low, found.high))
        return replace(found, value=self.tau, low=low, high=high)

    def generalising(self, level: float) -> Answer:
        """Return tau for groups like these; the interval says what other groups would give."""
        if self.reason:
            return Answer(np.nan, reason=self.reason, interval_reason=UndefinedReason.NO_ESTIMATE)
        return jackknife_answer(self.tau, to_tau(self.without_group), level, (-1.0, 1.0))


def true_tau(values: Array, scores: Array) -> TrueTau:
    """Return tau between scores and the means that infinitely many people would give.

    values : (n_people, n_groups, n_scales) ratings, NaN = not rated
    scores : (n_groups, n_scales), NaN = no score; cells without a rating or score do not count

    NaN with a reason where fewer than three cells are left, means or scores are all equal, no cell
    was rated twice, or the means differ no more than noise alone would make them.
    """
    rated = ~np.isnan(values) & ~np.isnan(scores)
    cells = rated.any(axis=0)
    people = rated.any(axis=(1, 2))
    n_people = int(people.sum())
    group = np.nonzero(cells)[0]
    model = scores[cells]
    given, ratings = rated[:, cells], values[:, cells]
    ratings[~given] = 0.0
    if model.size < MINIMUM_PAIRS:
        return TrueTau(np.nan, n_people=n_people, reason=UndefinedReason.TOO_FEW)
    n = given.sum(axis=0).astype(float)
    means = ratings.sum(axis=0) / n
    # In place: of a large study every copy takes what all its ratings take.
    residuals = np.subtract(ratings, means, out=ratings)
    residuals[~given] = 0.0
    freedom = float((n - 1).sum())
    if freedom == 0:
        return TrueTau(np.nan, n_people=n_people, reason=UndefinedReason.NO_CELL_TWICE)
    squares = residuals**2
    within, by_person = float(squares.sum()) / freedom, squares.sum(axis=1)
    del squares

    starts = np.unique(group, return_index=True)[1]
    pairs = _compare_pairs(means, model, starts, within / n)
    if not (pairs.untied_means.sum() and pairs.untied_scores.sum()):
        flat = (
            UndefinedReason.CONSTANT_MODEL if np.ptp(model) == 0 else UndefinedReason.CONSTANT_HUMAN
        )
        return TrueTau(np.nan, n_people=n_people, reason=flat)
    tau, taus = pairs.tau
    sums = _Sums.of(means - means.mean(), residuals, n, starts)
    reliability, reliabilities = sums.whole().reliability(), sums.without_each().reliability()
    if not reliability > 0:
        return TrueTau(
            np.nan, float(reliability), n_people=n_people, reason=UndefinedReason.ALL_NOISE
        )

    # Deviations from a mean that they helped to make are too small, by one in n.
    moved = np.divide(residuals, n, out=residuals)
    moved *= np.sqrt(n.sum() / freedom)
    variance = means.var(ddof=1)
    noise = within * float(np.mean(1 / n))
    on_tau = moved @ pairs.slopes
    on_variance = moved @ (means - means.mean()) * 2 / (means.size - 1)
    surprise = by_person - within * given.sum(axis=1) * freedom / n.sum()
    on_within = surprise / freedom
    on_reliability = noise * on_variance / variance**2 - np.mean(1 / n) * on_within / variance
    correlation = float(np.sin(np.pi * tau / 2) / np.sqrt(reliability))
    on_correlation = (
        np.pi / 2 * np.cos(np.pi * tau / 2) / np.sqrt(reliability) * on_tau
        - correlation / (2 * reliability) * on_reliability
    )
    usable = np.where(reliabilities > 0, reliabilities, np.nan)
    without = np.sin(np.pi * taus / 2) / np.sqrt(usable)
    return TrueTau(correlation, float(reliability), on_correlation, without, n_people)


def difference(first: TrueTau, second: TrueTau, level: float) -> tuple[Answer, Answer]:
    """Return first − second for these groups, and for groups like these.

    Both must rest on the same cells: two models beside the same people, or one model beside two
    parts of the people. What the two share (people, groups) cancels, since both are moved by the
    same person and miss the same group.
    """
    reason = first.reason or second.reason
    value = first.tau - second.tau
    if reason:
        none = Answer(np.nan, reason=reason, interval_reason=UndefinedReason.NO_ESTIMATE)
        return none, none
    people = np.union1d(np.flatnonzero(first.by_person), np.flatnonzero(second.by_person)).size
    if max(abs(first.correlation), abs(second.correlation)) >= 1:
        noise_free = Answer(value, n=people, interval_reason=UndefinedReason.AT_LIMIT)
    else:
        moved = _on_tau(first) - _on_tau(second)
        error = float(np.sqrt(np.sum(moved**2)))
        noise_free = student_answer(value, error, people, level, UndefinedReason.ONE_RATER)
    without = to_tau(first.without_group) - to_tau(second.without_group)
    return noise_free, jackknife_answer(value, without, level, (-2.0, 2.0))


def to_tau(correlation: Array | float) -> Array:
    """Return the tau that belongs to a correlation; beyond ±1 it stays at ±1."""
    return np.asarray(2 / np.pi * np.arcsin(np.clip(correlation, -1.0, 1.0)))


def _on_tau(found: TrueTau) -> Array:
    return found.by_person * (2 / np.pi) / np.sqrt(1 - found.correlation**2)


@dataclass(frozen=True)
class _Pairs:
    """Pairs of cells counted by their groups, every pair from both of its ends.

    balance : (n_groups, n_groups) concordant minus discordant pairs
    untied_means, untied_scores : (n_groups, n_groups) pairs that differ
    slopes : (n_cells,) how tau moves with a cell's mean
    """

    balance: Array
    untied_means: Array
    untied_scores: Array
    slopes: Array

    @property
    def tau(self) -> tuple[float, Array]:
        """Tau-b over all cells, and without each group."""
        counts = np.stack([self.balance, self.untied_means, self.untied_scores])
        whole = counts.sum(axis=(1, 2))
        apart = whole[:, None] - 2 * counts.sum(axis=2) + counts.diagonal(axis1=1, axis2=2)
        scale = np.sqrt(apart[1] * apart[2])
        taus = np.divide(apart[0], scale, out=np.full(scale.shape, np.nan), where=scale > 0)
        return float(whole[0] / np.sqrt(whole[1] * whole[2])), taus


def _compare_pairs(means: Array, model: Array, starts: NDArray[np.intp], errors: Array) -> _Pairs:
    """Compare every two cells, one group against all at a time.

    starts : (n_groups,) first cell of every group; errors : (n_cells,) variance of every mean
    """
    ends = [*starts[1:], means.size]
    balance: list[Array] = []
    untied_means: list[Array] = []
    untied_scores: list[Array] = []
    slopes: list[Array] = []
    for start, end in zip(starts, ends, strict=True):
        order = np.sign(model[start:end, None] - model)
        apart = means[start:end, None] - means
        signs = np.sign(apart)
        width = KERNEL_WIDTH * np.sqrt(errors[start:end, None] + errors)
        slope = np.divide(apart, width, out=np.zeros_like(apart), where=width > 0)
        slope = np.divide(np.exp(-(slope**2) / 2), width, out=slope, where=width > 0)
        slopes.append((order * slope).sum(axis=1) * 2 * np.sqrt(2 / np.pi))
        for found, counted in (
            (balance, order * signs),
            (untied_means, np.abs(signs)),
            (untied_scores, np.abs(order)),
        ):
            found.append(np.add.reduceat(counted.sum(axis=0), starts))
    concordant, means_apart, scores_apart = map(np.array, (balance, untied_means, untied_scores))
    scale = np.sqrt(means_apart.sum() * scores_apart.sum())
    slope_of_tau = np.concatenate(slopes) / scale if scale else np.zeros(means.size)
    return _Pairs(concordant, means_apart, scores_apart, slope_of_tau)


@dataclass(frozen=True)
class _Sums:
    """What the reliability of the means is made of, by group; (n_groups,) or single numbers."""

    cells: Array
    total: Array
    squares: Array
    shares: Array
    residuals: Array
    freedom: Array

    @classmethod
    def of(cls, means: Array, residuals: Array, n: Array, starts: NDArray[np.intp]) -> _Sums:
        parts = (np.ones(n.size), means, means**2, 1 / n, (residuals**2).sum(axis=0), n - 1)
        return cls(*(np.add.reduceat(part, starts) for part in parts))

    def _map(self, change: Callable[[Array], Array]) -> _Sums:
        return _Sums(*(change(getattr(self, part.name)) for part in fields(self)))

    def without_each(self) -> _Sums:
        return self._map(lambda part: part.sum() - part)

    def whole(self) -> _Sums:
        return self._map(np.sum)

    def reliability(self) -> Array:
        """1 − mean(s² / n) / var(cell means), NaN where there is no variance."""
        with np.errstate(divide="ignore", invalid="ignore"):
            variance = (self.squares - self.total**2 / self.cells) / (self.cells - 1)
            noise = self.residuals / self.freedom * self.shares / self.cells
            return np.asarray(1 - noise / np.where(variance > 0, variance, np.nan))
