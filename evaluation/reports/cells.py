"""Estimates as cells of a readable table, and records as rows of a table with all numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import pandas as pd

from evaluation.charts import IntervalMark
from evaluation.reports.formatting import interval, number


class AnyEstimate(Protocol):
    """What every estimate of the analyses has."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def reason(self) -> str: ...


def estimate_cells(
    estimate: AnyEstimate, decimals: int = 2, *, scale: float = 1.0, signed: bool = False
) -> tuple[str, str]:
    """Return value and interval as they are printed."""
    value, low, high = (scale * part for part in (estimate.value, estimate.low, estimate.high))
    return (
        number(value, decimals, signed=signed),
        interval(low, high, decimals, signed=signed),
    )


def to_mark(
    estimate: Any,
    *,
    n: int,
    tone: str = "ink",
    outlined: bool = False,
    scale: float = 1.0,
) -> IntervalMark:
    """Return an estimate as a mark of a chart."""
    return IntervalMark(
        value=scale * estimate.value,
        low=scale * estimate.low,
        high=scale * estimate.high,
        n=n,
        tone=tone,  # type: ignore[arg-type]
        outlined=outlined,
        reason=str(estimate.reason),
    )


def to_frame(rows: Iterable[dict[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    """Return rows as a table whose columns do not depend on there being rows; NaN stays empty."""
    return pd.DataFrame(list(rows), columns=list(columns))


def is_missing(value: float | None) -> bool:
    return value is None or math.isnan(value)
