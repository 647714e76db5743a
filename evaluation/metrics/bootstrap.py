"""Bootstrap of means, shares and their differences over units such as text pairs.

One object holds the resamples of a set of units, so that every quantity of the same units is
resampled alike: the interval of a difference is then a paired one. A quantity enters as sums per
unit, computed once; resamples only weigh them (Efron and Tibshirani 1993, ch. 6 and 8).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.few_units import LEAST_RESAMPLED
from evaluation.metrics.interval import UNBOUNDED, bias_corrected_interval
from evaluation.metrics.undefined import UndefinedReason

Floats = NDArray[np.float64]

#: Resamples are held as counts of up to 64 MB; those of more units are drawn again for each use.
_HELD = 8_000_000
_DRAWN_AT_ONCE = 2_000_000


class Bootstrap:
    """Resamples of `n_units` units with replacement.

    n_resamples : 0 for no intervals
    seed : the same seed and number of units give the same resamples
    level : coverage of the intervals, 0 to 1
    """

    def __init__(
        self, n_units: int, *, n_resamples: int = 2000, seed: int = 0, level: float = 0.95
    ) -> None:
        if n_resamples < 0:
            raise ValueError(f"n_resamples is {n_resamples}, expected a whole number from 0")
        if not 0 < level < 1:
            raise ValueError(f"level is {level}, expected a share between 0 and 1")
        self.n_units, self.n_resamples, self.seed, self.level = n_units, n_resamples, seed, level
        self._held: Floats | None = None

    def mean(self, values: ArrayLike) -> Estimate:
        """Return the mean over units; NaN = the unit has no value and is left out."""
        x = self._units(values)
        there = ~np.isnan(x)
        return self.ratio(np.where(there, x, 0), there, n=int(there.sum()))

    def mean_difference(self, first: ArrayLike, second: ArrayLike) -> Estimate:
        """Return mean(first) − mean(second), each over the units that have it; n = with both."""
        x, y = self._units(first), self._units(second)
        a, b = ~np.isnan(x), ~np.isnan(y)
        sums = (np.where(a, x, 0), a, np.where(b, y, 0), b)
        return self.ratio_difference(*sums, n=int((a & b).sum()))

    def ratio(
        self,
        numerators: ArrayLike,
        denominators: ArrayLike,
        *,
        n: int,
        reason: str = UndefinedReason.NO_VALUES,
    ) -> Estimate:
        """Return Σ numerators / Σ denominators; undefined where the denominators sum to 0."""
        columns = (numerators, denominators)
        return self.estimate(columns, lambda sums: _divide(*sums), n=n, reason=reason)

    def ratio_difference(
        self, *columns: ArrayLike, n: int, reason: str = UndefinedReason.NO_VALUES
    ) -> Estimate:
        """Return the first ratio minus the second, resampled together.

        columns : numerators and denominators of the first, then of the second
        """
        return self.estimate(
            columns,
            lambda sums: _divide(*sums[:2]) - _divide(*sums[2:]),
            n=n,
            reason=reason,
        )

    def estimate(
        self,
        columns: tuple[ArrayLike, ...],
        combine: Callable[[list[Floats]], Floats],
        *,
        n: int,
        reason: str = UndefinedReason.NO_VALUES,
        bounds: tuple[float, float] = UNBOUNDED,
    ) -> Estimate:
        """Return what `combine` makes of the sums of the columns, with its interval.

        columns : each (n_units,), without NaN
        combine : from sums, each (n_resamples,), to values of that shape; NaN = undefined
        n : units that the value rests on
        reason : why there is no value, should there be none
        bounds : the range of the quantity, at which its interval is cut

        Without interval where every resample gives the same, as where all units are alike, and
        for fewer units with a value than `few_units` says.
        """
        table = np.column_stack([self._units(column) for column in columns])
        value = float(combine([total[None] for total in table.sum(axis=0)])[0])
        if np.isnan(value):
            return no_estimate(reason)
        if not self.n_resamples:
            return Estimate(value, n=n, interval_reason=UndefinedReason.NOT_REQUESTED)
        in_use = np.count_nonzero(np.any(table != 0, axis=1))
        if in_use < 2:
            return Estimate(value, n=n, interval_reason=UndefinedReason.ONE_TEXT)
        sums = np.concatenate([weights @ table for weights in self._weights()])
        drawn = combine([np.ascontiguousarray(column) for column in sums.T])
        if np.allclose(drawn, value, rtol=1e-12, atol=1e-12):
            return Estimate(value, n=n, interval_reason=UndefinedReason.ALL_ALIKE)
        if in_use < LEAST_RESAMPLED:
            return Estimate(value, n=n, interval_reason=UndefinedReason.FEW_RESAMPLED)
        found = bias_corrected_interval(value, drawn, level=self.level, bounds=bounds)
        return Estimate(
            value, found.low, found.high, n, interval_reason=found.reason, signature=self.signature
        )

    @property
    def signature(self) -> str:
        """How the intervals are computed, in one line."""
        return f"bootstrap|resamples:{self.n_resamples}|seed:{self.seed}|level:{self.level:g}"

    def _units(self, values: ArrayLike) -> Floats:
        column = np.asarray(values, dtype=float)
        if column.shape != (self.n_units,):
            raise ValueError(f"{self.n_units} units need as many values, got {column.shape}")
        return column

    def _weights(self) -> list[Floats] | map[Floats]:
        """Return counts of every unit in every resample, in blocks of resamples."""
        if self._held is not None:
            return [self._held]
        rng = np.random.default_rng(self.seed)
        n = self.n_units
        at_once = max(_DRAWN_AT_ONCE // n, 1)
        sizes = [
            min(at_once, self.n_resamples - start) for start in range(0, self.n_resamples, at_once)
        ]

        def draw(size: int) -> Floats:
            places = rng.integers(n, size=(size, n)) + np.arange(size)[:, None] * n
            counts = np.bincount(places.ravel(), minlength=size * n)
            return counts.reshape(size, n).astype(float)

        if n * self.n_resamples > _HELD:
            return map(draw, sizes)
        self._held = np.concatenate([draw(size) for size in sizes])
        return [self._held]


def _divide(numerator: Floats, denominator: Floats) -> Floats:
    undefined = np.full(np.shape(numerator), np.nan)
    return np.divide(numerator, denominator, out=undefined, where=denominator > 0)
