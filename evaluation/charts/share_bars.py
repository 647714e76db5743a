"""Shares of one whole, question by question: a bar, its percentage and its count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.charts.canvas import Drawing
from evaluation.charts.text_metrics import shorten, widest

PLOT, NARROW_PLOT = 560, 92
ROW, BAR = 22, 13
PANEL_HEAD = 36
LABELS, NARROW_LABELS = 190, 120
LONGEST_LABEL, LONGEST_NARROW_LABEL, LONGEST_NARROW_TITLE = 46, 22, 42
NUMBERS, NARROW_NUMBERS = (62, 120), (46, 84)


@dataclass(frozen=True)
class ShareBar:
    """``n`` of the whole, None where it is not shown; ``quiet`` bars are no answers."""

    label: str
    n: int | None
    quiet: bool = False


@dataclass(frozen=True)
class SharePanel:
    """Bars of one question; ``whole`` is what they are shares of."""

    title: str
    bars: tuple[ShareBar, ...]
    whole: int


def share_bars_spec(
    panels: Sequence[SharePanel], *, title: str, narrow: bool = False
) -> dict[str, Any]:
    """Return the Vega-Lite specification; the longest axis is the whole.

    narrow : drawn for a phone, with shorter bars and labels

    Raises ValueError where there is nothing to draw.
    """
    bars = [bar for panel in panels for bar in panel.bars]
    if not bars:
        raise ValueError("a chart of shares needs at least one bar")
    labels = [shorten(bar.label, LONGEST_NARROW_LABEL if narrow else LONGEST_LABEL) for bar in bars]
    left = max(NARROW_LABELS if narrow else LABELS, widest(labels, 12.5) + 12)
    right = left + (NARROW_PLOT if narrow else PLOT)
    places = [right + place for place in (NARROW_NUMBERS if narrow else NUMBERS)]
    drawing = Drawing()
    drawing.text(places[0], 8, "%", color="ink3", align="right")
    drawing.text(places[1], 8, "n", color="ink3", align="right")
    label = iter(labels)
    y = 22.0
    for panel in panels:
        head = shorten(panel.title, LONGEST_NARROW_TITLE) if narrow else panel.title
        drawing.text(0, y + 10, head, color="ink", bold=True)
        y += PANEL_HEAD - 8
        top = y
        for bar in panel.bars:
            drawing.key = bar.label
            drawing.text(left - 10, y + ROW / 2, next(label), align="right",
                         color="ink2" if bar.quiet else "ink")  # fmt: skip
            _draw_bar(drawing, (left, right), places, y, bar, panel.whole)
            y += ROW
        drawing.key = ""
        drawing.line((left, top), (left, y), color="control")
        y += 14
    return drawing.specification(
        places[1] + 4,
        y,
        title=title,
        description=f"{len(panels)} questions with {len(bars)} answers of "
        f"{max(panel.whole for panel in panels)} people.",
    )


def _draw_bar(
    drawing: Drawing,
    ends: tuple[float, float],
    places: Sequence[float],
    y: float,
    bar: ShareBar,
    whole: int,
) -> None:
    """Draw a bar between the ends of its axis, with percentage and count at their places."""
    left, right = ends
    if bar.n is None:
        drawing.text(left + 8, y + ROW / 2, "not shown", color="ink3")
        return
    share = bar.n / whole
    percent = f"{100 * share:.1f}"
    drawing.box(
        left,
        y + (ROW - BAR) / 2,
        max(share * (right - left), 1.0),
        BAR,
        color="control" if bar.quiet else "human",
        tip=f"{bar.label}: {bar.n} of {whole}, {percent} %",
    )
    drawing.text(places[0], y + ROW / 2, percent, color="ink", align="right")
    drawing.text(places[1], y + ROW / 2, str(bar.n), align="right")
