"""Krippendorff's alpha of numbers and categories, with missing values and an interval.

Krippendorff (2019), Content Analysis, ch. 12. The value is that of the package `krippendorff`, and
of large tables the same from counts; its interval is that of a jackknife of ln(1 − alpha), over
units, or over annotators and units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from annotation.common.lazy import stats
from evaluation.metrics.counted_values import CountedValues, Measurement
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.few_units import LEAST_ANNOTATORS, LEAST_IN_USE, LEAST_RESAMPLED
from evaluation.metrics.interval import Interval, no_interval
from evaluation.metrics.shown import Shown
from evaluation.metrics.undefined import UndefinedReason

MEASUREMENTS: tuple[Measurement, ...] = ("nominal", "ordinal", "interval", "ratio")
#: What an interval speaks of: units like these with these annotators, or annotators like these too.
Over = Literal["units", "annotators"]
JACKKNIFE = "jackknife"
#: Cells of the matrices in which the package counts; of more, values are counted by unit alone.
MOST_OF_PACKAGE = 10_000_000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class KrippendorffAlpha:
    """Agreement of annotators on units.

    value : at most 1; 0 = chance; NaN = undefined
    low, high : interval, NaN where there is none
    n_units : units with two values or more, the only ones that count
    n_values : values of these units
    resampled : whether the interval is for units like these, or for annotators like these too
    method : of the interval
    """

    value: float
    low: float
    high: float
    n_units: Annotated[int, Shown("{units}", 0)]
    n_values: Annotated[int, Shown("Ratings", 0)]
    measurement: Measurement
    level: float
    reason: str = UndefinedReason.NONE
    interval_reason: str = UndefinedReason.NONE
    resampled: Over = "units"
    method: str = JACKKNIFE

    @property
    def estimate(self) -> Annotated[Estimate, Shown("α", 2, name="value", style="strong")]:
        signature = (
            f"krippendorff_alpha|measurement:{self.measurement}|over:{self.resampled}"
            f"|{self.method}|level:{self.level:g}"
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
    over: Over = "units",
    level: float = 0.95,
) -> KrippendorffAlpha:
    """Return alpha of a table of ratings.

    ratings : (n_annotators, n_units), NaN = missing; categories as numbers for ``nominal``
    over : what the interval speaks of: other units, or other units and annotators
    level : coverage of the interval, 0 to 1

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
    there = table[~np.isnan(table)]
    counted = CountedValues.of(table, np.unique(there), measurement)
    value, reason = np.nan, UndefinedReason.NONE
    if not table.size:
        reason = UndefinedReason.NO_UNIT_TWICE
    elif counted.domain.size == 1:
        reason = UndefinedReason.NO_VARIATION
    elif table.shape[1] * counted.domain.size**2 <= MOST_OF_PACKAGE:
        # The package keeps a matrix of values by values for each unit.
        value = float(
            krippendorff.alpha(
                value_counts=counted.counts,
                value_domain=counted.domain,
                level_of_measurement=measurement,
            )
        )
    else:
        value = counted.alpha()
    found = _interval(value, counted, over, level)
    return KrippendorffAlpha(
        value=value,
        low=found.low,
        high=found.high,
        n_units=table.shape[1],
        n_values=there.size,
        measurement=measurement,
        level=level,
        reason=reason,
        interval_reason=found.reason,
        resampled=over,
    )


def _interval(value: float, counted: CountedValues, over: Over, level: float) -> Interval:
    """Return the jackknife interval of ln(1 − alpha), transformed back; methods.md §9."""
    if np.isnan(value):
        return no_interval(UndefinedReason.NO_ESTIMATE, level=level)
    if np.unique(counted.annotators).size < LEAST_ANNOTATORS[over]:
        return no_interval(UndefinedReason.FEW_RATERS, level=level)
    in_use = counted.units_in_use
    if in_use < LEAST_RESAMPLED:
        return no_interval(UndefinedReason.FEW_UNITS, level=level)
    if counted.measurement == "nominal" and in_use < LEAST_IN_USE:
        return no_interval(UndefinedReason.FEW_IN_USE, level=level)
    v_units, df_units = _jackknife(counted.without_units())
    v_people, df_people = 0.0, 1
    if over == "annotators":
        v_people, df_people = _jackknife(counted.without_annotators())
    v = v_units + v_people
    if not v > 0 or value >= 1:
        return no_interval(UndefinedReason.NO_SPREAD_AT_ALL, level=level)
    df = v**2 / (v_units**2 / df_units + v_people**2 / df_people)
    reach = float(stats.t.ppf((1 + level) / 2, df)) * np.sqrt(v)
    apart = 1 - value
    return Interval(
        float(1 - apart * np.exp(reach)), float(1 - apart * np.exp(-reach)), level, JACKKNIFE
    )


def _jackknife(values: Floats) -> tuple[float, int]:
    """Return the variance of ln(1 − alpha) from values without one block each, and its df.

    NaN where a value is missing or 1.
    """
    n = values.size
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(1 - values)
        found = float((n - 1) / n * ((logs - logs.mean()) ** 2).sum())
    return found, n - 1
