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
    decimals: int | None = None,
    signed: bool = False,
) -> Figure:
    """Return both drawings of the same panels as one figure; zero has a line of its own."""
    wide, narrow = (
        draw(panels, words=words, legend=legend, reference=0.0, decimals=decimals, signed=signed)
        for draw in (intervals_spec, narrow_intervals_spec)
    )
    return Figure(name, caption, wide, narrow, data=data)
