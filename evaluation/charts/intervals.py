"""Estimates with their intervals, line by line in panels: means, gaps and changes.

One chart serves them all: people are circles, models diamonds; where a line has two estimates,
such as two directions, the first is filled and the second an outline.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evaluation.charts.drawing import Drawing
from evaluation.charts.lettering import (
    decimals_for,
    format_number,
    format_tick,
    text_width,
    widest,
)

LABELS = 150
PLOT = 470
ROW = 21
LINE_GAP = 7
PANEL_HEAD = 34
TOP = 34
RADIUS = 5
LONGEST_LABEL = 34

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
    """Lines under one heading, which may be empty."""

    title: str
    lines: tuple[IntervalLine, ...]


@dataclass(frozen=True)
class LegendEntry:
    text: str
    tone: Tone
    outlined: bool = False


@dataclass(frozen=True)
class IntervalWords:
    """Every text of the chart; {…} is filled in."""

    title: str
    axis: str
    level: str
    value: str = ""
    description: str = "{lines} lines with {marks} estimates, from {lowest} to {highest}."
    description_empty: str = "There is no estimate."
    interval: str = "{level} interval"
    n: str = "n"
    to: str = "{low} to {high}"
    no_interval: str = "no interval"
    tip: str = "{line}: {value}, {interval}, n = {n}"
    left: str = ""
    right: str = ""


class IntervalAxis:
    """Values to pixels, between round ends that hold every estimate and interval."""

    def __init__(
        self,
        left: float,
        values: Sequence[float],
        reference: float | None,
        width: float = PLOT,
    ) -> None:
        known = [value for value in values if math.isfinite(value)]
        if reference is not None:
            known.append(reference)
        low, high = min(known, default=0.0), max(known, default=1.0)
        span = high - low or abs(high) or 1.0
        self.tick = _nice(span / 4)
        self.first = math.floor(round(low / self.tick, 9))
        self.last = max(math.ceil(round(high / self.tick, 9)), self.first + 1)
        self.left, self.right = left, left + width

    def __call__(self, value: float) -> float:
        share = (value / self.tick - self.first) / (self.last - self.first)
        return self.left + share * (self.right - self.left)

    @property
    def ticks(self) -> list[float]:
        return [round(i * self.tick, 12) for i in range(self.first, self.last + 1)]

    @property
    def decimals(self) -> int:
        return max(0, -math.floor(math.log10(self.tick)) + (0 if _is_round(self.tick) else 1))


def _nice(step: float) -> float:
    power = 10.0 ** math.floor(math.log10(step))
    return next(n * power for n in (1, 2, 2.5, 5, 10) if n * power >= step * (1 - 1e-9))


def _is_round(tick: float) -> bool:
    return round(tick / 10.0 ** math.floor(math.log10(tick)), 9) in (1, 2, 5, 10)


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
    panels = [panel for panel in panels if panel.lines]
    lines = [line for panel in panels for line in panel.lines]
    marks = [mark for line in lines for mark in line.marks]
    left = max(LABELS, widest([_short(line.label) for line in lines], 12.5) + 8)
    axis = IntervalAxis(left + 14, [v for m in marks for v in (m.value, m.low, m.high)], reference)
    places = decimals_of(marks) if decimals is None else decimals
    columns = {"value": axis.right + 62, "interval": axis.right + 78, "n": axis.right + 258}
    drawing = Drawing()
    y = _draw_legend(drawing, legend)
    y = _draw_heads(drawing, words, columns, y)
    top = y
    rows: list[tuple[IntervalLine, IntervalMark, float]] = []
    for panel in panels:
        if panel.title:
            y += PANEL_HEAD - ROW + (6 if panel is not panels[0] else 0)
            drawing.text(0, y, panel.title, colour="ink", bold=True)
            y += ROW + 2
        for line in panel.lines:
            middle = y + ROW * (len(line.marks) - 1) / 2
            drawing.text(left, middle, _short(line.label), colour="ink", align="right",
                         bold=line.bold)  # fmt: skip
            for mark in line.marks:
                rows.append((line, mark, y))
                y += ROW
            y += LINE_GAP
    bottom = max(y - LINE_GAP, top + ROW) - 4
    draw_axis(drawing, axis, words, reference, top - 12, bottom, signed=signed)
    for line, mark, at in rows:
        _draw_mark(drawing, axis, line, mark, at, columns, words, places, signed=signed)
    return drawing.specification(
        columns["n"] + 4,
        bottom + (66 if words.left or words.right else 48),
        title=words.title,
        description=describe(lines, marks, words, places, signed=signed),
    )


def _short(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"


def decimals_of(marks: Sequence[IntervalMark]) -> int:
    largest = max((abs(m.value) for m in marks if math.isfinite(m.value)), default=1.0)
    return min(3, max(1, decimals_for(largest))) if largest > 0 else 2


def _draw_legend(drawing: Drawing, legend: Sequence[LegendEntry]) -> float:
    x = 0.0
    for entry in legend:
        drawing.line((x, 10), (x + 30, 10), colour=entry.tone, width=1.75)
        draw_symbol(drawing, x + 15, 10, entry.tone, outlined=entry.outlined)
        drawing.text(x + 38, 10, entry.text, size=13)
        x += 38 + text_width(entry.text, 13) + 26
    return 44.0 if legend else 16.0


def _draw_heads(
    drawing: Drawing, words: IntervalWords, columns: dict[str, float], y: float
) -> float:
    drawing.text(columns["value"], y, words.value, colour="ink3", align="right")
    head = words.interval.format(level=words.level)
    drawing.text(columns["interval"], y, head, colour="ink3")
    drawing.text(columns["n"], y, words.n, colour="ink3", align="right")
    return y + 28


def draw_axis(
    drawing: Drawing,
    axis: IntervalAxis,
    words: IntervalWords,
    reference: float | None,
    top: float,
    bottom: float,
    *,
    signed: bool,
) -> None:
    for tick in axis.ticks:
        marked = reference is not None and abs(tick - reference) < axis.tick / 1e6
        drawing.line((axis(tick), top), (axis(tick), bottom),
                     colour="ink" if marked else "line", grid=True)  # fmt: skip
        drawing.text(axis(tick), bottom + 14, format_tick(tick, axis.decimals, signed=signed),
                     colour="ink3", align="center")  # fmt: skip
    y = bottom + 34
    if words.left or words.right:
        drawing.text(axis.left, y, words.left, colour="ink3")
        drawing.text(axis.right, y, words.right, colour="ink3", align="right")
        y += 20
    drawing.text((axis.left + axis.right) / 2, y, words.axis, colour="ink3", align="center")


def draw_symbol(drawing: Drawing, x: float, y: float, tone: Tone, *, outlined: bool,
                 tip: str = "") -> None:  # fmt: skip
    shape = "diamond" if tone == "model" else "circle"
    # A diamond of equal extent looks smaller than a circle.
    radius = RADIUS + (1.2 if tone == "model" else 0)
    radius -= 0.9 if outlined else 0.0
    drawing.symbol(x, y, shape, radius, colour=tone, outlined=outlined, tip=tip)


def _draw_mark(
    drawing: Drawing,
    axis: IntervalAxis,
    line: IntervalLine,
    mark: IntervalMark,
    y: float,
    columns: dict[str, float],
    words: IntervalWords,
    decimals: int,
    *,
    signed: bool,
) -> None:
    value = format_number(mark.value, decimals, signed=signed)
    drawing.text(columns["value"], y, value, colour="ink", align="right", bold=line.bold)
    if math.isnan(mark.value):
        drawing.text(columns["interval"], y, mark.reason, colour="ink3")
        return
    interval = words.no_interval
    if not math.isnan(mark.low):
        drawing.line((axis(mark.low), y), (axis(mark.high), y), colour=mark.tone, width=1.75)
        interval = words.to.format(
            low=format_number(mark.low, decimals, signed=signed),
            high=format_number(mark.high, decimals, signed=signed),
        )
    drawing.text(columns["interval"], y, interval, colour="ink3")
    drawing.text(columns["n"], y, str(mark.n), align="right")
    tip = words.tip.format(line=line.label, value=value, interval=interval, n=mark.n)
    draw_symbol(drawing, axis(mark.value), y, mark.tone, outlined=mark.outlined, tip=tip)


def describe(
    lines: Sequence[IntervalLine],
    marks: Sequence[IntervalMark],
    words: IntervalWords,
    decimals: int,
    *,
    signed: bool,
) -> str:
    known = [mark.value for mark in marks if not math.isnan(mark.value)]
    if not known:
        return words.description_empty
    return words.description.format(
        lines=len(lines),
        marks=len(known),
        lowest=format_number(min(known), decimals, signed=signed),
        highest=format_number(max(known), decimals, signed=signed),
    )
