"""How values are spread, line by line: histograms on one axis with their means marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.charts.axis import Axis
from evaluation.charts.canvas import Drawing
from evaluation.charts.text_metrics import count_tip, format_number, widest

LABELS = 150
HEIGHT = 58
GAP = 16
TOP = 40
BAR_GAP = 1
#: Ends of the axis.
BOUNDS = (-1.0, 1.0)


@dataclass(frozen=True)
class Distribution:
    """Values under one label; those that are NaN are left out."""

    label: str
    values: tuple[float, ...]


def distributions_spec(
    lines: Sequence[Distribution],
    *,
    title: str,
    axis_title: str,
    bins: int = 40,
) -> dict[str, Any]:
    """Return the Vega-Lite specification.

    bins : of equal width. A bar is as high as its share of its own line's values, and all lines
        have one scale of shares.

    Raises ValueError for a value outside the axis.
    """
    counts = [_count(line, bins) for line in lines]
    shares = [found / max(found.sum(), 1) for found in counts]
    highest = max((float(share.max()) for share in shares), default=0.0) or 1.0
    left = max(LABELS, widest([line.label for line in lines], 12.5) + 8) + 14
    axis = Axis(left, BOUNDS, tick=0.5)
    mean_at, n_at = axis.right + 62, axis.right + 122
    drawing = Drawing()
    drawing.text(mean_at, 16, "Mean", color="ink3", align="right")
    drawing.text(n_at, 16, "n", color="ink3", align="right")
    bottom = TOP + len(lines) * (HEIGHT + GAP) - GAP
    axis.draw_grid(drawing, TOP - 8, bottom)
    described = []
    for i, line in enumerate(lines):
        base = TOP + i * (HEIGHT + GAP) + HEIGHT
        drawing.key = line.label
        drawing.text(left - 14, base - 12, line.label, color="ink", align="right")
        drawing.line((left, base), (axis.right, base), color="line")
        _draw_bars(drawing, axis, line, counts[i], shares[i] / highest, base)
        known = [value for value in line.values if not math.isnan(value)]
        mean = math.fsum(known) / len(known) if known else math.nan
        text = format_number(mean, 2) if known else "no value"
        described.append(f"{line.label} {format_number(mean, 2)}")
        drawing.text(mean_at, base - 12, text, color="ink", align="right", bold=True)
        drawing.text(n_at, base - 12, str(int(counts[i].sum())), align="right")
        if known:
            x = axis(mean)
            tip = f"{line.label}: mean {text}{count_tip(counts[i].sum())}"
            drawing.line((x, base - HEIGHT), (x, base), color="model", width=1.75)
            drawing.symbol(x, base, "diamond", 6, color="model", tip=tip)
    drawing.key = ""
    height = axis.draw(drawing, axis_title, bottom, decimals=1)
    return drawing.specification(
        n_at + 4,
        height + 2,
        title=title,
        description=f"{len(lines)} distributions; means {', '.join(described)}.",
    )


def _count(line: Distribution, bins: int) -> np.ndarray:
    values = np.array([value for value in line.values if not math.isnan(value)], dtype=float)
    if values.size and (values.min() < BOUNDS[0] or values.max() > BOUNDS[1]):
        raise ValueError(
            f"a value of “{line.label}” lies outside {BOUNDS[0]:g} to {BOUNDS[1]:g}: "
            f"{values.min():g} to {values.max():g}"
        )
    return np.histogram(values, bins=bins, range=BOUNDS)[0]


def _draw_bars(
    drawing: Drawing,
    axis: Axis,
    line: Distribution,
    counts: np.ndarray,
    heights: np.ndarray,
    base: float,
) -> None:
    edges = [float(edge) for edge in np.linspace(*BOUNDS, len(counts) + 1)]
    for i, n in enumerate(counts):
        if not n:
            continue
        # Even the smallest bar can be seen.
        height = max(float(heights[i]) * (HEIGHT - 8), 1.5)
        low, high = edges[i], edges[i + 1]
        drawing.box(
            axis(low) + BAR_GAP / 2,
            base - height,
            axis(high) - axis(low) - BAR_GAP,
            height,
            color="control",
            tip=f"{line.label}: {n} from {format_number(low, 2)} to {format_number(high, 2)}",
        )
