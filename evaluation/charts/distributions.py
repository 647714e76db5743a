"""How values are spread, line by line: histograms on one axis with their means marked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluation.charts.drawing import Drawing
from evaluation.charts.lettering import format_number, format_tick, widest

LABELS = 150
PLOT = 470
HEIGHT = 58
GAP = 16
TOP = 40
BAR_GAP = 1
TICKS = 4


@dataclass(frozen=True)
class Distribution:
    """Values under one label; those that are NaN are left out."""

    label: str
    values: tuple[float, ...]


@dataclass(frozen=True)
class DistributionWords:
    """Every text of the chart; {…} is filled in."""

    title: str
    axis: str
    mean: str = "Mean"
    n: str = "n"
    description: str = "{lines} distributions; means {means}."
    bar: str = "{line}: {n} from {low} to {high}"
    none: str = "no value"


def distributions_spec(
    lines: Sequence[Distribution],
    *,
    words: DistributionWords,
    bounds: tuple[float, float] = (-1.0, 1.0),
    bins: int = 40,
    decimals: int = 2,
) -> dict[str, Any]:
    """Return the Vega-Lite specification.

    bounds : ends of the axis; every value lies between them
    bins : of equal width. A bar is as high as its share of its own line's values, and all lines
        have one scale of shares.

    Raises ValueError for a value outside the bounds.
    """
    counts = [_count(line, bounds, bins) for line in lines]
    shares = [found / max(found.sum(), 1) for found in counts]
    highest = max((float(share.max()) for share in shares), default=0.0) or 1.0
    left = max(LABELS, widest([line.label for line in lines], 12.5) + 8) + 14
    mean_at, n_at = left + PLOT + 62, left + PLOT + 122
    drawing = Drawing()
    drawing.text(mean_at, 16, words.mean, colour="ink3", align="right")
    drawing.text(n_at, 16, words.n, colour="ink3", align="right")
    bottom = TOP + len(lines) * (HEIGHT + GAP) - GAP
    _draw_axis(drawing, left, bottom, bounds, words)
    for i, line in enumerate(lines):
        base = TOP + i * (HEIGHT + GAP) + HEIGHT
        drawing.text(left - 14, base - 12, line.label, colour="ink", align="right")
        drawing.line((left, base), (left + PLOT, base), colour="line")
        _draw_bars(drawing, line, counts[i], shares[i] / highest, (left, base), bounds, words)
        mean = _mean(line)
        text = words.none if math.isnan(mean) else format_number(mean, decimals)
        drawing.text(mean_at, base - 12, text, colour="ink", align="right", bold=True)
        drawing.text(n_at, base - 12, str(int(counts[i].sum())), align="right")
        if not math.isnan(mean):
            x = left + (mean - bounds[0]) / (bounds[1] - bounds[0]) * PLOT
            drawing.line((x, base - HEIGHT), (x, base), colour="model", width=1.75)
            drawing.symbol(x, base, "diamond", 6, colour="model", tip=f"{line.label}: {text}")
    return drawing.specification(
        n_at + 4,
        bottom + 52,
        title=words.title,
        description=words.description.format(
            lines=len(lines),
            means=", ".join(
                f"{line.label} {format_number(_mean(line), decimals)}" for line in lines
            ),
        ),
    )


def _count(line: Distribution, bounds: tuple[float, float], bins: int) -> np.ndarray:
    values = np.array([value for value in line.values if not math.isnan(value)], dtype=float)
    if values.size and (values.min() < bounds[0] or values.max() > bounds[1]):
        raise ValueError(
            f"a value of “{line.label}” lies outside {bounds[0]:g} to {bounds[1]:g}: "
            f"{values.min():g} to {values.max():g}"
        )
    return np.histogram(values, bins=bins, range=bounds)[0]


def _mean(line: Distribution) -> float:
    known = [value for value in line.values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


def _draw_bars(
    drawing: Drawing,
    line: Distribution,
    counts: np.ndarray,
    heights: np.ndarray,
    origin: tuple[float, float],
    bounds: tuple[float, float],
    words: DistributionWords,
) -> None:
    left, base = origin
    edges = np.linspace(*bounds, len(counts) + 1)
    width = PLOT / len(counts)
    for i, n in enumerate(counts):
        if not n:
            continue
        # The smallest bar is still to be seen.
        height = max(float(heights[i]) * (HEIGHT - 8), 1.5)
        drawing.box(
            left + i * width + BAR_GAP / 2,
            base - height,
            width - BAR_GAP,
            height,
            colour="control",
            tip=words.bar.format(
                line=line.label,
                n=int(n),
                low=format_number(float(edges[i]), 2),
                high=format_number(float(edges[i + 1]), 2),
            ),
        )


def _draw_axis(
    drawing: Drawing,
    left: float,
    bottom: float,
    bounds: tuple[float, float],
    words: DistributionWords,
) -> None:
    for i in range(TICKS + 1):
        value = bounds[0] + (bounds[1] - bounds[0]) * i / TICKS
        x = left + PLOT * i / TICKS
        drawing.line((x, TOP - 8), (x, bottom), colour="line", grid=True)
        drawing.text(x, bottom + 16, format_tick(value, 1), colour="ink3", align="center")
    drawing.text(left + PLOT / 2, bottom + 38, words.axis, colour="ink3", align="center")
