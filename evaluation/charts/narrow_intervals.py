"""Estimates with their intervals for a phone: name and numbers above each estimate.

The wide drawing has its numbers at the right; on a phone they, and half of the plot with them,
would lie outside of the page.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from evaluation.charts.drawing import Drawing
from evaluation.charts.intervals import (
    IntervalAxis,
    IntervalLine,
    IntervalMark,
    IntervalPanel,
    IntervalWords,
    LegendEntry,
    decimals_of,
    describe,
    draw_axis,
    draw_symbol,
)
from evaluation.charts.lettering import format_number, text_width
from evaluation.charts.palette import TEXT_SIZE

WIDTH = 320
# Half of an end tick's number stands outside of the axis.
EDGE = 18
NAME_TO_PLOT = 17
PLOT_TO_NAME = 22
HALF_GRID = 9
PANEL_GAP = 12


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
    panels = [panel for panel in panels if panel.lines]
    lines = [line for panel in panels for line in panel.lines]
    marks = [mark for line in lines for mark in line.marks]
    values = [value for mark in marks for value in (mark.value, mark.low, mark.high)]
    axis = IntervalAxis(EDGE, values, reference, WIDTH - 2 * EDGE)
    places = decimals_of(marks) if decimals is None else decimals
    drawing = Drawing()
    y = 10.0
    for entry in legend:
        drawing.line((0, y), (30, y), colour=entry.tone, width=1.75)
        draw_symbol(drawing, 15, y, entry.tone, outlined=entry.outlined)
        drawing.text(38, y, entry.text)
        y += 22
    head = f"{words.value}, {words.interval.format(level=words.level)}".lstrip(", ")
    drawing.text(WIDTH, y, head, colour="ink3", align="right")
    y += PLOT_TO_NAME
    for panel in panels:
        if panel.title:
            y += 0 if panel is panels[0] else PANEL_GAP
            drawing.text(0, y, fit(panel.title, WIDTH), colour="ink", bold=True)
            y += PLOT_TO_NAME
        for line in panel.lines:
            y = _draw_line(drawing, axis, line, y, words, places, reference, signed=signed)
    bottom = y - PLOT_TO_NAME + HALF_GRID + 2
    draw_axis(drawing, axis, words, reference, bottom, bottom, signed=signed)
    return drawing.specification(
        WIDTH,
        bottom + (66 if words.left or words.right else 48),
        title=words.title,
        description=describe(lines, marks, words, places, signed=signed),
    )


def fit(text: str, width: float, size: float = TEXT_SIZE) -> str:
    """Return as much of a text as fits, with an ellipsis where it is cut."""
    if text_width(text, size) <= width:
        return text
    kept = text
    while kept and text_width(f"{kept}…", size) > width:
        kept = kept[:-1]
    return f"{kept.rstrip()}…"


def _draw_line(
    drawing: Drawing,
    axis: IntervalAxis,
    line: IntervalLine,
    y: float,
    words: IntervalWords,
    decimals: int,
    reference: float | None,
    *,
    signed: bool,
) -> float:
    """Draw a line's estimates under its name; return where the next name stands."""
    for number, mark in enumerate(line.marks):
        told = _numbers(mark, words, decimals, signed=signed)
        if number == 0:
            room = WIDTH - text_width(told, TEXT_SIZE) - 12
            drawing.text(0, y, fit(line.label, room), colour="ink", bold=line.bold)
        drawing.text(WIDTH, y, told, colour="ink2", align="right", bold=line.bold)
        y += NAME_TO_PLOT
        for tick in axis.ticks:
            marked = reference is not None and abs(tick - reference) < axis.tick / 1e6
            drawing.line((axis(tick), y - HALF_GRID), (axis(tick), y + HALF_GRID),
                         colour="ink" if marked else "line", grid=True)  # fmt: skip
        if math.isnan(mark.value):
            drawing.text(0, y, fit(mark.reason, WIDTH), colour="ink3")
        else:
            if not math.isnan(mark.low):
                start, end = (axis(mark.low), y), (axis(mark.high), y)
                drawing.line(start, end, colour=mark.tone, width=1.75)
            tip = f"{line.label}: {told}, {words.n} = {mark.n}"
            draw_symbol(drawing, axis(mark.value), y, mark.tone, outlined=mark.outlined, tip=tip)
        y += PLOT_TO_NAME
    return y


def _numbers(mark: IntervalMark, words: IntervalWords, decimals: int, *, signed: bool) -> str:
    value = format_number(mark.value, decimals, signed=signed)
    if math.isnan(mark.value) or math.isnan(mark.low):
        return value
    low, high = (format_number(end, decimals, signed=signed) for end in (mark.low, mark.high))
    return f"{value}, {words.to.format(low=low, high=high)}"
