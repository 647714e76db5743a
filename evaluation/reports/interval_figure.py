"""A figure of estimates with intervals, drawn for wide and for narrow pages."""

from __future__ import annotations

from collections.abc import Sequence

from evaluation.charts import (
    IntervalPanel,
    IntervalWords,
    LegendEntry,
    intervals_spec,
    narrow_intervals_spec,
)
from evaluation.reports.document import Figure


def interval_figure(
    name: str,
    caption: str,
    panels: Sequence[IntervalPanel],
    *,
    words: IntervalWords,
    data: str,
    legend: Sequence[LegendEntry] = (),
    reference: float | None = 0.0,
    decimals: int | None = None,
    signed: bool = False,
) -> Figure:
    """Return both drawings of the same panels as one figure.

    reference : has a line of its own, zero if not said otherwise; None = no such line
    """
    wide, narrow = (
        draw(
            panels,
            words=words,
            legend=legend,
            reference=reference,
            decimals=decimals,
            signed=signed,
        )
        for draw in (intervals_spec, narrow_intervals_spec)
    )
    return Figure(name, caption, wide, narrow, data=data)
