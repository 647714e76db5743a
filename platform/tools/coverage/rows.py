"""What a row of the laboratory is, and how it is measured."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.estimate import Estimate

#: Shares of data sets, in percent, between which a nominal 95 % interval is said to hold.
LEAST, MOST = 92.0, 99.0
#: Greatest share of false alarms of a test at the 5 % level, in percent.
MOST_ALARMS = 6.5
#: Standard errors by which a row may miss its bounds through the luck of its draws.
TOLERANCE = 2.0


class Printed(Protocol):
    """What a report prints: an `Estimate`, an `Answer`, or the like."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def interval_reason(self) -> str: ...


#: Name of a statistic → what a report would print, and the truth.
Study = Mapping[str, tuple[Printed, float]]


@dataclass(frozen=True)
class Tested:
    """A printed estimate with the p-value beside it."""

    estimate: Estimate
    p_value: float = float("nan")

    @property
    def value(self) -> float:
        return self.estimate.value

    @property
    def low(self) -> float:
        return self.estimate.low

    @property
    def high(self) -> float:
        return self.estimate.high

    @property
    def interval_reason(self) -> str:
        return self.estimate.interval_reason


def farthest(shown: Sequence[Tested], truths: Sequence[float]) -> tuple[Tested, float]:
    """Return the estimate that lies farthest from its truth, in units of its interval.

    It holds the truth exactly if all intervals do. The p-value is the smallest of all. Without an
    interval the first one is returned.
    """

    def distance(place: int) -> float:
        one, truth = shown[place], truths[place]
        side = one.high - one.value if truth > one.value else one.value - one.low
        off = abs(one.value - truth)
        return 0.0 if np.isnan(side) or not off else off / side if side > 0 else np.inf

    place = max(range(len(shown)), key=distance)
    return Tested(shown[place].estimate, min(one.p_value for one in shown)), truths[place]


@dataclass(frozen=True)
class Row:
    """A design with known truth.

    name : of the design, such as “base, τ .70”
    statistics : those that `study` returns
    study : draws one study and returns what a report would print of it, and the truth
    least_bias : the bias that the row must stay below, in the unit of the statistic; NaN = none
    thin : also run among the tests, on few data sets
    """

    name: str
    statistics: tuple[str, ...]
    study: Callable[[np.random.Generator], Study]
    most_bias: float = float("nan")
    thin: bool = False


@dataclass(frozen=True)
class Result:
    """What one statistic did in one row.

    n : data sets; n_intervals : those with an interval
    coverage : percent of intervals that hold the truth; bias, sd, width : in its unit
    alarms : percent of p-values below .05 where the truth is 0, None elsewhere
    reasons : why there was no interval → in how many data sets
    """

    statistic: str
    row: str
    n: int
    n_intervals: int
    coverage: float | None
    bias: float | None
    sd: float | None
    width: float | None
    alarms: float | None = None
    reasons: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    def misses(self, most_bias: float = float("nan")) -> str:
        """Return how the row falls short, empty where the interval holds or is not printed.

        A row of few data sets may miss by `TOLERANCE` standard errors.
        """
        if self.n_intervals < self.n / 20 and self.alarms is None:
            return ""
        found = []
        if self.coverage is not None:
            for bound, side in ((LEAST, -1), (MOST, 1)):
                slack = TOLERANCE * np.sqrt(bound * (100 - bound) / self.n_intervals)
                if side * (self.coverage - bound) > slack:
                    found.append(f"covers {self.coverage:.1f} %")
        if self.alarms is not None:
            slack = TOLERANCE * np.sqrt(5 * 95 / self.n)
            if self.alarms > MOST_ALARMS + slack:
                found.append(f"{self.alarms:.1f} % false alarms")
        if self.bias is not None and self.sd is not None:
            slack = TOLERANCE * self.sd / np.sqrt(self.n_intervals)
            if abs(self.bias) > most_bias + slack:
                found.append(f"bias {self.bias:+.3f}")
        return ", ".join(found)


def measure(row: Row, data_sets: int, seed: int) -> list[Result]:
    """Draw that many studies of a row; the same seed and row give the same studies."""
    key = [seed, *row.name.encode()]
    found: dict[str, list[tuple[float, ...]]] = {name: [] for name in row.statistics}
    reasons: dict[str, Counter[str]] = {name: Counter() for name in row.statistics}
    began = time.process_time()
    for number in range(data_sets):
        for name, (printed, truth) in row.study(np.random.default_rng([*key, number])).items():
            p_value = getattr(printed, "p_value", np.nan)
            found[name].append((printed.value, printed.low, printed.high, p_value, truth))
            if np.isnan(printed.low):
                reasons[name][str(printed.interval_reason)] += 1
    seconds = time.process_time() - began
    return [
        _summarize(name, row, np.array(found[name]), dict(reasons[name]), seconds)
        for name in row.statistics
    ]


def _summarize(
    statistic: str, row: Row, rows: NDArray[np.float64], reasons: dict[str, int], seconds: float
) -> Result:
    value, low, high, p_value, truth = rows.T
    shown = ~np.isnan(low)
    tested = ~np.isnan(p_value) & (truth == 0)

    def mean(values: NDArray[Any], where: NDArray[np.bool_], digits: int) -> float | None:
        return round(float(np.mean(values[where])), digits) if where.any() else None

    return Result(
        statistic,
        row.name,
        len(rows),
        int(shown.sum()),
        coverage=mean(100.0 * ((low <= truth) & (truth <= high)), shown, 1),
        bias=mean(value - truth, shown, 4),
        sd=round(float(np.std((value - truth)[shown])), 4) if shown.any() else None,
        width=mean(high - low, shown, 4),
        # A truth that happens to be 0 in some data sets is no null hypothesis.
        alarms=mean(100.0 * (p_value < 0.05), tested, 1) if np.all(truth == 0) else None,
        reasons=reasons,
        seconds=round(seconds, 1),
    )
