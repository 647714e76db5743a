"""Geometry of the run monitor's drawings, in the units of their view boxes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from probing.runs.progress import Cell

# Widths of the rate chart's bins in seconds: the first that gives at most forty of them.
BIN_SECONDS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200)
MOST_BINS = 40


@dataclass(frozen=True)
class Mark:
    """One shard, or a bin of them, with the corner of its place."""

    x: float
    y: float
    state: str
    title: str


@dataclass(frozen=True)
class ShardDrawing:
    """All shards in rows; ``binned`` tells how many one mark stands for."""

    width: int
    height: float
    mark_width: float
    mark_height: float
    marks: tuple[Mark, ...]
    binned: int


def draw_shards(cells: Sequence[Cell]) -> ShardDrawing:
    """Lay the shards out, fewer and larger in a row where there are few."""
    columns = 100 if len(cells) > 150 else 50
    pitch, line = 1000 / columns, 14 if columns == 100 else 22
    width, height = pitch - 2, line - 3
    marks = tuple(
        Mark(
            x=round(number % columns * pitch, 2),
            y=number // columns * line,
            state=cell.state,
            title=_title(cell),
        )
        for number, cell in enumerate(cells)
    )
    return ShardDrawing(
        width=1000,
        height=math.ceil(len(cells) / columns) * line,
        mark_width=width,
        mark_height=height,
        marks=marks,
        binned=max((cell.count for cell in cells), default=1),
    )


def _title(cell: Cell) -> str:
    if cell.count == 1:
        return f"{cell.first:04d}"
    return f"{cell.first:04d} – {cell.first + cell.count - 1:04d}"


@dataclass(frozen=True)
class Tick:
    y: float
    label: str


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
    left: float
    right: float
    base: float


def draw_rate(times: Sequence[datetime], until: datetime) -> RateChart | None:
    """Draw shards a minute from ``times`` of storing up to ``until``; None for too few."""
    bins = _bins(times, until)
    if len(bins) < 2:
        return None
    left, right, top, base = 40.0, 476.0, 10.0, 104.0
    step = _nice_step(max(entry.per_minute for entry in bins))
    highest = step * max(1, math.ceil(max(entry.per_minute for entry in bins) / step))
    points = " ".join(
        f"{left + (right - left) * number / (len(bins) - 1):.1f},"
        f"{base - (base - top) * entry.per_minute / highest:.1f}"
        for number, entry in enumerate(bins)
    )
    ticks = tuple(
        Tick(y=round(base - (base - top) * level * step / highest, 1), label=f"{level * step:g}")
        for level in range(round(highest / step) + 1)
    )
    return RateChart(points, ticks, bins, left, right, base)


def _bins(times: Sequence[datetime], until: datetime) -> tuple[RateBin, ...]:
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


def _nice_step(highest: float) -> float:
    """Return a round step that gives about four grid lines."""
    raw = max(highest, 1) / 4
    power = 10 ** math.floor(math.log10(raw))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw)
