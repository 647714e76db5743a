"""What tau says to each of the questions that it is asked: value, interval and test together.

`true_tau` and `true_precision` compute the values; the intervals are Student's, and the p-value of
an answer is that of the same t, so that the two cannot contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import stats
from evaluation.metrics import UndefinedReason
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.few_units import LEAST_UNITS
from evaluation.metrics.shown import Shown

SIGNATURE = "tau_true:2|pairs,simex|people:wild100|groups:delete-one|t"


@dataclass(frozen=True)
class Answer:
    """The answer to one question: a value with the interval and the test that belong together.

    value, low, high : in the unit of the quantity, NaN where undefined
    p_value : two-sided, of the value 0; below 1 − level exactly where the interval leaves out 0
    n : people or groups that the interval generalizes over
    """

    value: float
    low: float = np.nan
    high: float = np.nan
    p_value: float = np.nan
    n: int = 0
    reason: str = UndefinedReason.NONE
    interval_reason: str = UndefinedReason.NONE

    @property
    def estimate(self) -> Estimate:
        """The answer as every table and figure reads it."""
        return Estimate(self.value, self.low, self.high, self.n, self.reason, self.interval_reason)


@dataclass(frozen=True)
class Answers:
    """Tau without noise and precision at k, for each question that they are asked.

    reliability : of the means of the cells, 0 to 1
    noise_free : tau for these groups, had infinitely many people rated them
    generalizing : the same tau for groups like these
    observed : tau for these groups, had as many other people rated them
    precision : precision at k without noise, for groups like these
    """

    reliability: Annotated[float, Shown(meaning="of the mean ratings")]
    noise_free: Answer
    generalizing: Answer
    observed: Answer
    precision: Answer
    signature: str = SIGNATURE

    @property
    def ceiling(self) -> float:
        """The tau as observed that the true means themselves would reach against these raters.

        (2/π) arcsin √reliability, by Greiner's relation (Kendall and Gibbons 1990, ch. 9) for the
        correlation √reliability of a mean with its truth (Spearman 1904); NaN where people's means
        are all noise, and of answers of before November 2026, whose reliability took one variance
        for all cells.
        """
        if not self.reliability > 0 or self.signature.startswith("tau_true:1"):
            return float("nan")
        return float(2 / np.pi * np.arcsin(np.sqrt(min(self.reliability, 1.0))))


def student_answer(
    value: float, error: float, n: int, level: float, too_few: str, *, df: float | None = None
) -> Answer:
    """Return value ± t(df) · error with the p-value of the same t; df is n − 1 where not given.

    error : standard error, NaN where it could not be computed
    too_few : the reason for no interval with n below 2
    """
    if np.isnan(value):
        return Answer(
            value, reason=UndefinedReason.NO_VALUES, interval_reason=UndefinedReason.NO_ESTIMATE
        )
    if n < 2:
        return Answer(value, n=n, interval_reason=too_few)
    if np.isnan(error):
        return Answer(value, n=n, interval_reason=UndefinedReason.UNSTABLE)
    if error == 0:
        return Answer(value, n=n, interval_reason=UndefinedReason.NO_SPREAD_AT_ALL)
    df = n - 1 if df is None else df
    reach = float(stats.t.ppf((1 + level) / 2, df)) * error
    p_value = float(2 * stats.t.sf(abs(value) / error, df))
    return Answer(value, value - reach, value + reach, p_value, n)


def jackknife_answer(
    value: float,
    without: NDArray[np.float64],
    level: float,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    *,
    least_error: float = 0.0,
) -> Answer:
    """Return a value with the interval that leaving out one group at a time gives (Tukey 1958).

    without : (n_groups,) the value without each group, NaN where it is undefined
    bounds : the range of the quantity, at which the interval is cut
    least_error : a standard error that is known to be in it
    """
    n = without.size
    if n < LEAST_UNITS and not np.isnan(value):
        return Answer(value, n=n, interval_reason=UndefinedReason.FEW_GROUPS)
    error = float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2))) if n else np.nan
    if error > 0:
        error = max(error, least_error)
    found = student_answer(value, error, n, level, UndefinedReason.FEW_GROUPS)
    low, high = (float(np.clip(end, *bounds)) for end in (found.low, found.high))
    return replace(found, low=low, high=high)
