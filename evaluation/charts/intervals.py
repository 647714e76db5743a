"""Estimates with their intervals, line by line in panels: means, gaps and changes.

One chart serves them all: people are circles, models diamonds; where a line has two estimates,
such as two directions, the first is filled and the second an outline. On a phone names and
numbers are above each estimate; at its right they would lie outside of the page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evaluation.charts.axis import Axis
from evaluation.charts.canvas import Drawing
from evaluation.charts.palette import TEXT_SIZE
from evaluation.charts.text_metrics import (
    decimals_for,
    fit,
    format_number,
    shorten,
    text_width,
    widest,
)

LABELS = 150
ROW = 21
LINE_GAP = 7
PANEL_HEAD = 34
RADIUS = 5
LONGEST_LABEL = 34

NARROW = 320
# Half of an end tick's number is outside of the axis.
EDGE = 18
NAME_TO_PLOT = 17
PLOT_TO_NAME = 22
HALF_GRID = 9
PANEL_GAP = 12

Tone = Literal["human", "model", "ink"]


@dataclass(frozen=True)
class IntervalMark:
    """An estimate, NaN with a ``reason`` where undefined; ``outlined`` tells a second one apart."""

    value: float
    low: float
    high: float
    n: int
    tone: Tone = "ink"
    outlined: bool = False
    reason: str = ""


@dataclass(frozen=True)
class IntervalLine:
    label: str
    marks: tuple[IntervalMark, ...]
    bold: bool = False


@dataclass(frozen=True)
class IntervalPanel:
    """Lines under one heading, which may be empty.

    band : half width of a gray band round the reference behind the lines; NaN for none
    """

    title: str
    lines: tuple[IntervalLine, ...]
    band: float = math.nan


@dataclass(frozen=True)
class LegendEntry:
    text: str
    tone: Tone
    outlined: bool = False


@dataclass(frozen=True)
class IntervalWords:
    """What the chart is about; ``left`` and ``right`` say what the ends of its axis mean."""

    title: str
    axis: str
    level: str
    value: str = ""
    n: str = "n"
    left: str = ""
    right: str = ""


@dataclass(frozen=True)
class _Numbers:
    """How the numbers of a chart are printed."""

    decimals: int
    signed: bool

    def value(self, value: float) -> str:
        return format_number(value, self.decimals, signed=self.signed)

    def interval(self, mark: IntervalMark) -> str:
        if math.isnan(mark.low):
            return "no interval"
        return f"{self.value(mark.low)} to {self.value(mark.high)}"

    def describe(self, lines: Sequence[IntervalLine]) -> str:
        known = [m.value for line in lines for m in line.marks if not math.isnan(m.value)]
        if not known:
            return "There is no estimate."
        return (
            f"{len(lines)} lines with {len(known)} estimates, from {self.value(min(known))} to "
            f"{self.value(max(known))}."
        )


def intervals_spec(
    panels: Sequence[IntervalPanel],
    *,
    words: IntervalWords,
    legend: Sequence[LegendEntry] = (),
    reference: float | None = None,
    decimals: int | None = None,
    signed: bool = False,
) -> dict[str, Any]:
    """Return the Vega-Lite specification.

    panels : empty ones are left out
    reference : a value with a line of its own, such as 0 for differences
    decimals : of the printed numbers, by default as many as the axis needs and one more
    signed : print a plus before positive values

    Every estimate, its interval and its n are printed at the right. Estimates that do not exist
    keep their line with the reason in it.
    """
    panels, lines, values, numbers = _prepare(panels, decimals, signed)
    left = max(LABELS, widest([shorten(line.label, LONGEST_LABEL) for line in lines], 12.5) + 8)
    axis = Axis(left + 14, values, reference=reference)
    value_at, interval_at, n_at = axis.right + 62, axis.right + 78, axis.right + 258
    drawing = Drawing()
    x = 0.0
    for entry in legend:
        _draw_key(drawing, x, 10, entry, 13)
        x += 38 + text_width(entry.text, 13) + 26
    y = 44.0 if legend else 16.0
    drawing.text(value_at, y, words.value, color="ink3", align="right")
    drawing.text(interval_at, y, f"{words.level} interval", color="ink3")
    drawing.text(n_at, y, words.n, color="ink3", align="right")
    y = top = y + 28
    rows: list[tuple[IntervalLine, IntervalMark, float]] = []
    for panel in panels:
        if panel.title:
            y += PANEL_HEAD - ROW + (6 if panel is not panels[0] else 0)
            drawing.text(0, y, panel.title, color="ink", bold=True)
            y += ROW + 2
        panel_top = y
        for line in panel.lines:
            drawing.key = line.label
            middle = y + ROW * (len(line.marks) - 1) / 2
            label = shorten(line.label, LONGEST_LABEL)
            drawing.text(left, middle, label, color="ink", align="right", bold=line.bold)
            rows += [(line, mark, y + ROW * i) for i, mark in enumerate(line.marks)]
            y += ROW * len(line.marks) + LINE_GAP
        drawing.key = ""
        _draw_band(drawing, axis, panel, panel_top - ROW / 2, y - LINE_GAP - ROW / 2)
    bottom = max(y - LINE_GAP, top + ROW) - 4
    axis.draw_grid(drawing, top - 12, bottom)
    for line, mark, at in rows:
        drawing.key = line.label
        value, interval = numbers.value(mark.value), numbers.interval(mark)
        drawing.text(value_at, at, value, color="ink", align="right", bold=line.bold)
        if math.isnan(mark.value):
            drawing.text(interval_at, at, mark.reason, color="ink3")
            continue
        drawing.text(interval_at, at, interval, color="ink3")
        drawing.text(n_at, at, str(mark.n), align="right")
        _draw_mark(drawing, axis, mark, at, f"{line.label}: {value}, {interval}, n = {mark.n}")
    drawing.key = ""
    end = axis.draw(drawing, words.axis, bottom, signed=signed, ends=(words.left, words.right))
    return drawing.specification(
        n_at + 4, end + 2, title=words.title, description=numbers.describe(lines)
    )


def narrow_intervals_spec(
    panels: Sequence[IntervalPanel],
    *,
    words: IntervalWords,
    legend: Sequence[LegendEntry] = (),
    reference: float | None = None,
    decimals: int | None = None,
    signed: bool = False,
) -> dict[str, Any]:
    """Return the specification of the same chart as `intervals_spec`, as wide as a phone.

    Every estimate and its interval are printed; the n of each is in its tooltip and the table.
    """
    panels, lines, values, numbers = _prepare(panels, decimals, signed)
    axis = Axis(EDGE, values, reference=reference, width=NARROW - 2 * EDGE)
    drawing = Drawing()
    y = 10.0
    for entry in legend:
        _draw_key(drawing, 0, y, entry, TEXT_SIZE)
        y += 22
    head = f"{words.value}, {words.level} interval".lstrip(", ")
    drawing.text(NARROW, y, head, color="ink3", align="right")
    y += PLOT_TO_NAME
    for panel in panels:
        if panel.title:
            y += 0 if panel is panels[0] else PANEL_GAP
            drawing.text(0, y, fit(panel.title, NARROW, TEXT_SIZE), color="ink", bold=True)
            y += PLOT_TO_NAME
        for line in panel.lines:
            for number, mark in enumerate(line.marks):
                drawing.key = line.label
                told = numbers.value(mark.value)
                if not math.isnan(mark.value) and not math.isnan(mark.low):
                    told += f", {numbers.interval(mark)}"
                if number == 0:
                    room = NARROW - text_width(told, TEXT_SIZE) - 12
                    label = fit(line.label, room, TEXT_SIZE)
                    drawing.text(0, y, label, color="ink", bold=line.bold)
                drawing.text(NARROW, y, told, color="ink2", align="right", bold=line.bold)
                y += NAME_TO_PLOT
                drawing.key = ""
                _draw_band(drawing, axis, panel, y - HALF_GRID, y + HALF_GRID)
                axis.draw_grid(drawing, y - HALF_GRID, y + HALF_GRID)
                drawing.key = line.label
                if math.isnan(mark.value):
                    drawing.text(0, y, fit(mark.reason, NARROW, TEXT_SIZE), color="ink3")
                else:
                    tip = f"{line.label}: {told}, {words.n} = {mark.n}"
                    _draw_mark(drawing, axis, mark, y, tip)
                y += PLOT_TO_NAME
    bottom = y - PLOT_TO_NAME + HALF_GRID + 2
    drawing.key = ""
    end = axis.draw(drawing, words.axis, bottom, signed=signed, ends=(words.left, words.right))
    return drawing.specification(
        NARROW, end + 2, title=words.title, description=numbers.describe(lines)
    )


def _prepare(
    panels: Sequence[IntervalPanel], decimals: int | None, signed: bool
) -> tuple[list[IntervalPanel], list[IntervalLine], list[float], _Numbers]:
    """Return the panels that have lines, all lines, what the axis must hold, and the numbers."""
    kept = [panel for panel in panels if panel.lines]
    lines = [line for panel in kept for line in panel.lines]
    marks = [mark for line in lines for mark in line.marks]
    if decimals is None:
        largest = max((abs(m.value) for m in marks if math.isfinite(m.value)), default=1.0)
        decimals = min(3, max(1, decimals_for(largest))) if largest > 0 else 2
    values = [value for mark in marks for value in (mark.value, mark.low, mark.high)]
    values += [sign * panel.band for panel in kept for sign in (-1, 1)]
    return kept, lines, values, _Numbers(decimals, signed)


def _draw_band(
    drawing: Drawing, axis: Axis, panel: IntervalPanel, top: float, bottom: float
) -> None:
    if math.isnan(panel.band):
        return
    center = axis.reference or 0.0
    left, right = axis(center - panel.band), axis(center + panel.band)
    drawing.box(left, top, right - left, bottom - top, color="band")


def _draw_key(drawing: Drawing, x: float, y: float, entry: LegendEntry, size: float) -> None:
    drawing.line((x, y), (x + 30, y), color=entry.tone, width=1.75)
    _draw_symbol(drawing, x + 15, y, entry.tone, outlined=entry.outlined)
    drawing.text(x + 38, y, entry.text, size=size)


def _draw_mark(drawing: Drawing, axis: Axis, mark: IntervalMark, y: float, tip: str) -> None:
    if not math.isnan(mark.low):
        drawing.line((axis(mark.low), y), (axis(mark.high), y), color=mark.tone, width=1.75)
    _draw_symbol(drawing, axis(mark.value), y, mark.tone, outlined=mark.outlined, tip=tip)


def _draw_symbol(
    drawing: Drawing, x: float, y: float, tone: Tone, *, outlined: bool, tip: str = ""
) -> None:
    # A diamond of equal extent looks smaller than a circle.
    shape, radius = ("diamond", RADIUS + 1.2) if tone == "model" else ("circle", RADIUS)
    radius -= 0.9 if outlined else 0.0
    drawing.symbol(x, y, shape, radius, color=tone, outlined=outlined, tip=tip)
