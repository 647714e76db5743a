"""Precision at k with the noise of people's means taken out.

Noise puts means on the wrong side of the center, so that precision falls toward one half. Here
every cell among the k highest or lowest scored counts with the probability that its true mean lies
on the right side (empirical Bayes, Efron and Morris 1973): true means of the cells in the same
place of their groups are normal, with the variance that noise leaves over, and the observed mean
is shrunk toward the mean of its place. With very many raters the probabilities are 0 and 1, and
the value is `evaluation.metrics.precision_at_k`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.tau_answers import Answer, jackknife_answer
from evaluation.metrics import UndefinedReason

Array = NDArray[np.float64]
NO_ARRAY: Array = np.empty(0)


@dataclass(frozen=True)
class TruePrecision:
    """Precision at k without noise, and what its interval is made of.

    value : 0 to 1, NaN with a reason
    without_group : (n_groups,) the value without each of the groups that have one
    """

    value: float
    without_group: Array = field(default_factory=lambda: NO_ARRAY)
    reason: str = UndefinedReason.NONE

    def generalizing(self, level: float) -> Answer:
        """Return precision for groups like these; without a test, since 0 is no hypothesis.

        The interval is computed on the scale of log odds, which keeps it within 0 and 1.
        """
        if self.reason:
            return Answer(np.nan, reason=self.reason, interval_reason=UndefinedReason.NO_ESTIMATE)
        from scipy.special import expit, logit

        if not 0 < self.value < 1:
            n = self.without_group.size
            return Answer(self.value, n=n, interval_reason=UndefinedReason.NO_SPREAD_AT_ALL)
        inside = (self.without_group > 0) & (self.without_group < 1)
        odds = logit(np.where(inside, self.without_group, np.nan))
        found = jackknife_answer(float(logit(self.value)), odds, level)
        low, high = (float(expit(end)) for end in (found.low, found.high))
        return replace(found, value=self.value, low=low, high=high, p_value=np.nan)


def true_precision(
    values: Array, scores: Array, *, k: int = 3, center: float = 50.0
) -> TruePrecision:
    """Return the mean over groups of precision at k, had infinitely many people rated them.

    values : (n_people, n_groups, n_scales) ratings, NaN = not rated
    scores : (n_groups, n_scales), NaN = no score; ties keep the order of scales

    Groups with fewer than k complete scales do not count.
    """
    rated = ~np.isnan(values) & ~np.isnan(scores)
    n = rated.sum(axis=0)
    kept = (n > 0).sum(axis=1) >= k
    if not kept.any():
        return TruePrecision(np.nan, reason=UndefinedReason.NO_GROUP)
    freedom = int(np.maximum(n - 1, 0).sum())
    if freedom == 0:
        return TruePrecision(np.nan, reason=UndefinedReason.NO_CELL_TWICE)
    totals = np.where(rated, values, 0.0).sum(axis=0)
    means = np.divide(totals, n, out=np.full(n.shape, np.nan), where=n > 0)
    deviations = values - means
    deviations[~rated] = 0.0
    within = float(np.square(deviations, out=deviations).sum()) / freedom
    model = np.where(n > 0, scores, np.nan)[kept]
    # To the side of the center where the model puts them; the places are top and bottom.
    sides, errors = [], []
    for sign in (1, -1):
        order = np.argsort(-sign * model, axis=1, kind="stable")[:, :k]
        sides.append(sign * (np.take_along_axis(means[kept], order, axis=1) - center))
        errors.append(within / np.take_along_axis(n[kept], order, axis=1))
    right_side, noise = np.stack(sides, axis=1), np.stack(errors, axis=1)
    groups = np.arange(len(right_side))
    without = [
        _precision(right_side[groups != g], noise[groups != g]) for g in groups if groups.size > 1
    ]
    return TruePrecision(_precision(right_side, noise), np.array(without))


def difference(first: TruePrecision, second: TruePrecision, level: float) -> Answer:
    """Return first − second for groups like these; both must rest on the same groups."""
    reason = first.reason or second.reason
    if reason:
        return Answer(np.nan, reason=reason, interval_reason=UndefinedReason.NO_ESTIMATE)
    without = first.without_group - second.without_group
    return jackknife_answer(first.value - second.value, without, level, (-1.0, 1.0))


def _precision(right_side: Array, noise: Array) -> float:
    """Return the mean probability that true means lie on the right side.

    right_side, noise : (n_groups, 2, k) observed deviations to that side, variances of their errors
    """
    from scipy.special import ndtr

    place = right_side.mean(axis=(0, 2), keepdims=True)
    spread = max(float(np.mean((right_side - place) ** 2 - noise)), 0.0)
    share = np.divide(spread, spread + noise, out=np.ones_like(noise), where=spread + noise > 0)
    expected = place + share * (right_side - place)
    error = np.sqrt(share * noise)
    certain = (np.sign(expected) + 1) / 2
    odds = np.divide(expected, error, out=np.zeros_like(expected), where=error > 0)
    return float(np.where(error > 0, ndtr(odds), certain).mean())
