"""A number with all that qualifies it: the one shape in which estimates leave the metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import Field

from evaluation.metrics.interval import Interval
from evaluation.metrics.shown import Shown
from evaluation.metrics.undefined import UndefinedReason


@dataclass(frozen=True)
class Estimate:
    """A value with its interval.

    value, low, high : in the unit of the quantity, NaN where undefined
    n : units that the value rests on
    reason, interval_reason : why there is no value or no interval, empty otherwise
    signature : how the interval was computed; not stored, since a report keeps its options once
    """

    value: float
    low: float = math.nan
    high: float = math.nan
    n: int = 0
    reason: str = UndefinedReason.NONE
    interval_reason: str = UndefinedReason.NONE
    signature: Annotated[str, Field(exclude=True)] = field(default="", compare=False)

    @classmethod
    def within(cls, value: float, interval: Interval, n: int = 0) -> Estimate:
        """Return a value that is defined with its interval, or with the reason why it has none."""
        low, high, reason = interval.low, interval.high, interval.reason
        return cls(float(value), low, high, n, interval_reason=reason)

    @property
    def is_defined(self) -> bool:
        return not math.isnan(self.value)

    @property
    def note(self) -> Annotated[str, Shown(name="reason")]:
        """Why the value, or else its interval, is missing; empty where both are there."""
        return str(self.reason or self.interval_reason)

    def scaled(self, factor: float) -> Estimate:
        """Return the estimate in another unit, such as percent."""
        value, low, high = (factor * part for part in (self.value, self.low, self.high))
        return replace(self, value=value, low=low, high=high)


def no_estimate(reason: str) -> Estimate:
    """Return an undefined value with its reason."""
    return Estimate(math.nan, n=0, reason=reason, interval_reason=UndefinedReason.NO_ESTIMATE)
