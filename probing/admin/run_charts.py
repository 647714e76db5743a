"""Charts of a run's page, in the units of their view boxes; templates draw them as SVG.

They are drawn anew with every look at an open run, in a few milliseconds and without a library:
see “Libraries considered” in docs/architecture.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any

from django.utils.translation import gettext as _

from annotation.common.lazy import np
from probing.admin.run_labels import signed
from probing.runs.progress import ShardBin
from probing.runs.result_tables import ScoreCell, ScoreTable

#: Widths of the rate chart's bins in seconds: the first that gives at most forty of them.
BIN_SECONDS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200)
MOST_BINS = 40
#: Steps of color on either side of zero, and the percentile of |score| at which they end.
COLOR_STEPS = 5
COLOR_PERCENTILE = 98
#: Marks a mean that rests on fewer templates than others.
FEWER_TEMPLATES = "*"


@dataclass(frozen=True)
class Tick:
    """A grid line or a mark of an axis."""

    place: float
    label: str


def nice_step(highest: float, factors: Sequence[float]) -> float:
    """Return a round step that gives about four grid lines."""
    raw = highest / 4
    power = 10.0 ** math.floor(math.log10(raw))
    return next(factor * power for factor in factors if factor * power >= raw)


class LevelAxis:
    """An upright axis from zero at ``base`` to a round number at ``top``."""

    def __init__(self, highest: float, step: float, *, top: float, base: float) -> None:
        self._step, self._top, self._base = step, top, base
        self._highest = step * max(1, math.ceil(highest / step))

    def place(self, value: float) -> float:
        return round(self._base - (self._base - self._top) * value / self._highest, 1)

    def ticks(self) -> tuple[Tick, ...]:
        values = [self._step * n for n in range(round(self._highest / self._step) + 1)]
        return tuple(Tick(self.place(value), f"{value:g}") for value in values)


@dataclass(frozen=True)
class ShardMark:
    """One shard, or a bin of them, with the corner of its place."""

    x: float
    y: float
    state: str


@dataclass(frozen=True)
class ShardDrawing:
    """All shards in rows; ``binned`` tells how many one mark stands for."""

    width: int
    height: float
    mark_width: float
    mark_height: float
    marks: tuple[ShardMark, ...]
    binned: int


def draw_shards(bins: Sequence[ShardBin]) -> ShardDrawing:
    """Lay the shards out, fewer and larger in a row where there are few."""
    columns = 100 if len(bins) > 150 else 50
    pitch, line = 1000 / columns, 14 if columns == 100 else 22
    return ShardDrawing(
        width=1000,
        height=math.ceil(len(bins) / columns) * line,
        mark_width=pitch - 2,
        mark_height=line - 3,
        marks=tuple(
            ShardMark(round(number % columns * pitch, 2), number // columns * line, found.state)
            for number, found in enumerate(bins)
        ),
        binned=max((found.count for found in bins), default=1),
    )


@dataclass(frozen=True)
class RateBin:
    """Shards stored between two moments, and the rate that this makes."""

    begin: datetime
    end: datetime
    stored: int
    per_minute: float


@dataclass(frozen=True)
class RateChart:
    """The rate over time as a line, with grid and table."""

    points: str
    ticks: tuple[Tick, ...]
    bins: tuple[RateBin, ...]
    left: float = 40.0
    right: float = 476.0


def draw_rate(times: Sequence[datetime], until: datetime) -> RateChart | None:
    """Draw shards a minute from ``times`` of storing up to ``until``; None for too few."""
    bins = _rate_bins(times, until)
    if len(bins) < 2:
        return None
    highest = max(entry.per_minute for entry in bins)
    axis = LevelAxis(highest, nice_step(max(highest, 1), (1, 2, 5, 10)), top=10.0, base=104.0)
    left, width = RateChart.left, RateChart.right - RateChart.left
    points = " ".join(
        f"{left + width * number / (len(bins) - 1):.1f},{axis.place(entry.per_minute)}"
        for number, entry in enumerate(bins)
    )
    return RateChart(points, axis.ticks(), bins)


def _rate_bins(times: Sequence[datetime], until: datetime) -> tuple[RateBin, ...]:
    """Count the times in equal bins; a bin that is not over yet is left out."""
    if len(times) < 2:
        return ()
    begin = times[0]
    span = (max(until, times[-1]) - begin).total_seconds()
    width = next((w for w in BIN_SECONDS if span / w <= MOST_BINS), BIN_SECONDS[-1])
    counts = [0] * int(span // width)
    for time in times:
        place = int((time - begin).total_seconds() // width)
        if place < len(counts):
            counts[place] += 1
    return tuple(
        RateBin(
            begin=begin + timedelta(seconds=width * number),
            end=begin + timedelta(seconds=width * (number + 1)),
            stored=count,
            per_minute=60 * count / width,
        )
        for number, count in enumerate(counts)
    )


def heat_table(table: ScoreTable, templates: int = 0) -> dict[str, Any]:
    """Return the score table with the class of each cell's color, for its template.

    A mean over fewer than all `templates` is marked; 0 = the scores are no means over templates.
    Colors are symmetric around zero and end at ``limit``, the 98th percentile of |score|.
    """
    values = [cell.value for row in table.rows for cell in row.cells if cell.value is not None]
    limit = float(np.percentile(np.abs(values), COLOR_PERCENTILE)) if values else 0.0
    return {
        "columns": table.columns,
        "dimensions": [
            {"name": name, "span": len(list(columns))}
            for name, columns in groupby(table.columns, key=lambda column: column.dimension)
        ],
        "rows": [
            {
                "name": row.name,
                "cells": [_heat_cell(cell, limit, templates) for cell in row.cells],
            }
            for row in table.rows
        ],
        "limit": f"{limit:.2f}" if values else None,
        "missing": sum(cell.value is None for row in table.rows for cell in row.cells),
        "fewer": sum(0 < cell.n < templates for row in table.rows for cell in row.cells),
    }


def _heat_cell(cell: ScoreCell, limit: float, templates: int) -> dict[str, str]:
    value = cell.value
    if value is None:
        return {"text": "–", "step": "none", "reason": cell.reason}
    step = round(min(1.0, abs(value) / limit) * COLOR_STEPS) if limit else 0
    side = "high" if value > 0 else "low"
    fewer = 0 < cell.n < templates
    return {
        "text": f"{signed(value)}{FEWER_TEMPLATES if fewer else ''}",
        "step": f"{side}-{step}" if step else "centre",
        "reason": _("mean over {n} of {all} templates").format(n=cell.n, all=templates)
        if fewer
        else "",
    }
