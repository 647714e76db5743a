"""Krippendorff's alpha of numbers and categories, with missing values and an interval.

Krippendorff (2019), Content Analysis, ch. 12. The value is that of the package `krippendorff`;
resamples of units weigh sums that are computed once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import krippendorff
import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.interval import Interval, bias_corrected_interval, no_interval
from evaluation.metrics.undefined import Undefined

Measurement = Literal["nominal", "ordinal", "interval", "ratio"]
MEASUREMENTS: tuple[Measurement, ...] = ("nominal", "ordinal", "interval", "ratio")

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class KrippendorffAlpha:
    """Agreement of annotators on units.

    value : at most 1; 0 = chance; NaN = undefined
    low, high : interval from resampled units, NaN where there is none
    n_units : units with two values or more, the only ones that count
    n_values : values of these units
    n_resamples : resamples that could be computed
    """

    value: float
    low: float
    high: float
    n_units: int
    n_values: int
    measurement: Measurement
    level: float
    n_resamples: int
    seed: int
    reason: str = Undefined.NONE
    interval_reason: str = Undefined.NONE


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    measurement: Measurement = "ordinal",
    n_resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> KrippendorffAlpha:
    """Return alpha of a table of ratings.

    ratings : (n_annotators, n_units), NaN = missing; categories as numbers for ``nominal``
    n_resamples : resamples of units with replacement, 0 for no interval

    α = 1 − D_o / D_e from the coincidence matrix, in which a unit with m values has the weight
    1/(m − 1). Without variation alpha is undefined, not 1. Raises ValueError for infinite values.
    """
    if measurement not in MEASUREMENTS:
        raise ValueError(f"measurement is '{measurement}', expected {', '.join(MEASUREMENTS)}")
    table = np.asarray(ratings, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"a table of annotators by units is needed, got shape {table.shape}")
    if np.isinf(table).any():
        raise ValueError("infinite values cannot be compared; drop them first")
    table = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    domain = np.unique(table[~np.isnan(table)])
    value, reason = np.nan, Undefined.NONE
    if not table.size:
        reason = Undefined.NO_UNIT_TWICE
    elif domain.size == 1:
        reason = Undefined.NO_VARIATION
    else:
        value = float(krippendorff.alpha(table, level_of_measurement=measurement))
    found = _interval(value, table, domain, measurement, n_resamples, seed, level)
    return KrippendorffAlpha(
        value=value,
        low=found.low,
        high=found.high,
        n_units=table.shape[1],
        n_values=int((~np.isnan(table)).sum()),
        measurement=measurement,
        level=level,
        n_resamples=found.n_resamples,
        seed=seed,
        reason=reason,
        interval_reason=found.reason,
    )


def _interval(
    value: float,
    table: Floats,
    domain: Floats,
    measurement: Measurement,
    n_resamples: int,
    seed: int,
    level: float,
) -> Interval:
    if np.isnan(value):
        return no_interval(Undefined.NO_ESTIMATE, level=level)
    if not n_resamples:
        return no_interval(Undefined.NOT_REQUESTED, level=level)
    n_units = table.shape[1]
    if n_units < 2:
        return no_interval(Undefined.ONE_UNIT, level=level)
    rng = np.random.default_rng(seed)
    coincidences = _Coincidences(table, domain, measurement)
    resamples = np.array(
        [
            coincidences.alpha(np.bincount(rng.integers(n_units, size=n_units), minlength=n_units))
            for _ in range(n_resamples)
        ]
    )
    return bias_corrected_interval(value, resamples, level=level, bounds=(-np.inf, 1.0))


class _Coincidences:
    """Coincidences of every unit, to be weighed by how often the unit was drawn."""

    def __init__(self, table: Floats, domain: Floats, measurement: Measurement) -> None:
        there = ~np.isnan(table)
        m = there.sum(axis=0)
        place = np.searchsorted(domain, np.where(there, table, domain[0]))
        self._counts = np.zeros((table.shape[1], domain.size))
        units = np.broadcast_to(np.arange(table.shape[1]), table.shape)
        np.add.at(self._counts, (units[there], place[there]), 1.0)
        unit, first, second, weight = [], [], [], []
        for a in range(len(table)):
            for b in range(a + 1, len(table)):
                both = np.flatnonzero(there[a] & there[b])
                unit.append(both)
                first.append(place[a, both])
                second.append(place[b, both])
                # Each pair counts in both orders.
                weight.append(2.0 / (m[both] - 1))
        self._unit = np.concatenate(unit)
        self._first = np.minimum(np.concatenate(first), np.concatenate(second))
        self._second = np.maximum(np.concatenate(first), np.concatenate(second))
        self._weight = np.concatenate(weight)
        self._fixed = None if measurement == "ordinal" else _distances(domain, measurement)

    def alpha(self, drawn: NDArray[np.int64]) -> float:
        """Return alpha of the units, each as often as it was drawn; NaN without variation."""
        n_v = drawn @ self._counts
        distances = _ordinal_distances(n_v) if self._fixed is None else self._fixed
        # The distance of a value to itself is 0, so that no value needs taking out of D_e.
        expected = n_v @ distances @ n_v / (n_v.sum() - 1)
        if expected <= 0:
            return np.nan
        apart = distances[self._first, self._second]
        return float(1 - (drawn[self._unit] * self._weight) @ apart / expected)


def _distances(domain: Floats, measurement: Measurement) -> Floats:
    a, b = domain[:, None], domain[None, :]
    if measurement == "nominal":
        return (a != b).astype(float)
    if measurement == "interval":
        return (a - b) ** 2
    total = a + b
    return np.divide(a - b, total, out=np.zeros_like(total), where=total != 0) ** 2


def _ordinal_distances(n_v: Floats) -> Floats:
    """Return (Σ_{g=c..k} n_g − (n_c + n_k)/2)² for values in order: ranks between, squared."""
    middle = np.cumsum(n_v) - n_v / 2
    return (middle[:, None] - middle[None, :]) ** 2
