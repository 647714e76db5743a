"""Krippendorff's alpha of numbers and categories, with missing values and an interval.

Krippendorff (2019), Content Analysis, ch. 12. The value is that of the package `krippendorff`;
what an interval draws with replacement is said by `resample`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evaluation.metrics.alpha_resamples import Measurement, resample_annotators, resample_units
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.interval import Interval, bias_corrected_interval, no_interval
from evaluation.metrics.undefined import UndefinedReason

MEASUREMENTS: tuple[Measurement, ...] = ("nominal", "ordinal", "interval", "ratio")
#: What an interval draws with replacement.
Resampled = Literal["units", "annotators"]
FEWEST_ANNOTATORS = 3

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class KrippendorffAlpha:
    """Agreement of annotators on units.

    value : at most 1; 0 = chance; NaN = undefined
    low, high : interval from resampled units or annotators, NaN where there is none
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
    reason: str = UndefinedReason.NONE
    interval_reason: str = UndefinedReason.NONE
    resampled: Resampled = "units"

    @property
    def estimate(self) -> Estimate:
        signature = (
            f"krippendorff_alpha|measurement:{self.measurement}|resampled:{self.resampled}"
            f"|resamples:{self.n_resamples}|seed:{self.seed}|level:{self.level:g}"
        )
        return Estimate(
            self.value,
            self.low,
            self.high,
            self.n_units,
            self.reason,
            self.interval_reason,
            signature=signature,
        )


def krippendorff_alpha(
    ratings: ArrayLike,
    *,
    measurement: Measurement = "ordinal",
    resample: Resampled = "units",
    n_resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> KrippendorffAlpha:
    """Return alpha of a table of ratings.

    ratings : (n_annotators, n_units), NaN = missing; categories as numbers for ``nominal``
    resample : what an interval draws: units, or annotators with all that each of them rated
    n_resamples : draws with replacement, 0 for no interval

    α = 1 − D_o / D_e from the coincidence matrix, in which a unit with m values has the weight
    1/(m − 1). Without variation alpha is undefined, not 1. Raises ValueError for infinite values.
    """
    import krippendorff

    if measurement not in MEASUREMENTS:
        raise ValueError(f"measurement is '{measurement}', expected {', '.join(MEASUREMENTS)}")
    table = np.asarray(ratings, dtype=float)
    if table.ndim != 2:
        raise ValueError(f"a table of annotators by units is needed, got shape {table.shape}")
    if np.isinf(table).any():
        raise ValueError("infinite values cannot be compared; drop them first")
    table = table[:, (~np.isnan(table)).sum(axis=0) >= 2]
    domain = np.unique(table[~np.isnan(table)])
    value, reason = np.nan, UndefinedReason.NONE
    if not table.size:
        reason = UndefinedReason.NO_UNIT_TWICE
    elif domain.size == 1:
        reason = UndefinedReason.NO_VARIATION
    else:
        value = float(krippendorff.alpha(table, level_of_measurement=measurement))
    found = _interval(value, table, domain, measurement, resample, n_resamples, seed, level)
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
        resampled=resample,
    )


def _interval(
    value: float,
    table: Floats,
    domain: Floats,
    measurement: Measurement,
    resample: Resampled,
    n_resamples: int,
    seed: int,
    level: float,
) -> Interval:
    if np.isnan(value):
        return no_interval(UndefinedReason.NO_ESTIMATE, level=level)
    if not n_resamples:
        return no_interval(UndefinedReason.NOT_REQUESTED, level=level)
    rng = np.random.default_rng(seed)
    if resample == "annotators":
        table = table[(~np.isnan(table)).any(axis=1)]
        if len(table) < FEWEST_ANNOTATORS:
            return no_interval(UndefinedReason.FEW_RATERS, level=level)
        resamples = resample_annotators(table, domain, measurement, n_resamples, rng)
    elif table.shape[1] < 2:
        return no_interval(UndefinedReason.ONE_UNIT, level=level)
    else:
        resamples = resample_units(table, domain, measurement, n_resamples, rng)
    return bias_corrected_interval(value, resamples, level=level, bounds=(-np.inf, 1.0))
