"""What tau says to each of the questions that it is asked: value, interval and test together.

`true_tau` and `true_precision` compute the values; the intervals are Student's, and the p-value of
an answer is that of the same t, so that the two cannot contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import stats
from evaluation.metrics import UndefinedReason
from evaluation.metrics.estimate import Estimate

SIGNATURE = "tau_true:1|rel:pooled|people:influence,kernel0.35|groups:delete-one|t"


@dataclass(frozen=True)
class Answer:
    """The answer to one question: a value with the interval and the test that belong together.

    value, low, high : in the unit of the quantity, NaN where undefined
    p_value : two-sided, of the value 0; below 1 − level exactly where the interval leaves out 0
    n : people or groups that the interval generalises over
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
    generalising : the same tau for groups like these
    precision : precision at k without noise, for groups like these
    """

    reliability: float
    noise_free: Answer
    generalising: Answer
    precision: Answer
    signature: str = SIGNATURE


def student_answer(value: float, error: float, n: int, level: float, too_few: str) -> Answer:
    """Return value ± t(n − 1) · error with the p-value of the same t.

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
    reach = float(stats.t.ppf((1 + level) / 2, n - 1)) * error
    p_value = float(2 * stats.t.sf(abs(value) / error, n - 1))
    return Answer(value, value - reach, value + reach, p_value, n)


def jackknife_answer(
    value: float,
    without: NDArray[np.float64],
    level: float,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> Answer:
    """Return a value with the interval that leaving out one group at a time gives (Tukey 1958).

    without : (n_groups,) the value without each group, NaN where it is undefined
    bounds : the range of the quantity, at which the interval is cut
    """
    n = without.size
    error = np.nan
    if n > 1:
        error = float(np.sqrt((n - 1) / n * np.sum((without - without.mean()) ** 2)))
    found = student_answer(value, error, n, level, UndefinedReason.ONE_GROUP)
    low, high = (float(np.clip(end, *bounds)) for end in (found.low, found.high))
    return replace(found, low=low, high=high)
