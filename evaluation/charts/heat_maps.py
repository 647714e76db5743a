"""The two pictures side by side: people's means and the model's scores, groups by scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.common.lazy import pd
from evaluation.charts.canvas import SMALL, SWATCH, Drawing
from evaluation.charts.palette import DIVERGING, dimension_token
from evaluation.charts.text_metrics import (
    GroupLabel,
    ScaleLabel,
    arrange,
    count_tip,
    format_number,
    records_by,
    starts,
    text_width,
    widest,
)

WIDTH = 1040
SLOT = 428  # room for one map beside the other
BETWEEN = 40
LABELS = 144  # room for the names of groups
HEAD = 58
ROW = 20
GROUP_GAP, SCALE_GAP = 7, 6
LEAST_COLUMN, WIDEST_COLUMN = 20, 40
HUMAN_CENTER, HUMAN_LIMIT = 50.0, 30.0
CLIP_PERCENTILE = 98
MISSING = "Outlined cells have no value"


@dataclass(frozen=True)
class _Grid:
    """Where rows and columns stand, from the upper left corner of a map's cells."""

    rows: list[float]
    columns: list[float]
    column: int
    height: float
    width: float
    blocks: list[tuple[str, str, float, float]]  # dimension, its word, from, to
    upper: float  # room for the poles above, and below
    lower: float


@dataclass(frozen=True)
class _Side:
    """One map: what it shows and how its scale is cut."""

    head: str
    shape: str
    column: str
    center: float
    limit: float
    decimals: int
    signed: bool
    scale_texts: tuple[str, str, str]


def heat_maps_spec(
    cells: pd.DataFrame,
    *,
    groups: Sequence[GroupLabel],
    scales: Sequence[ScaleLabel],
    stacked: bool | None = None,
) -> dict[str, Any]:
    """Return the Vega-Lite specification of the two heat maps.

    cells : the table of that name of the alignment (`reports.alignment_tables`)
    groups : rows; groups of one domain are brought together with a gap before the next
    scales : columns, the 100 pole above and the 0 pole below; those of one dimension together
    stacked : the model's map under the people's; by default only where columns would become
        narrower than 20 pixels side by side

    Ratings are clipped at 20 and 80, scores at the 98th percentile of their size rounded to two
    digits; both limits are printed. A dot marks a cell whose interval includes the center.
    """
    groups = [groups[i] for i in arrange([g.domain for g in groups])]
    scales = [scales[i] for i in arrange([s.dimension for s in scales])]
    if not groups or not scales:
        raise ValueError("a heat map needs at least one group and one scale")
    n_gaps = len({s.dimension for s in scales}) - 1
    fitting = (SLOT - SCALE_GAP * n_gaps) // len(scales)
    stacked = fitting < LEAST_COLUMN if stacked is None else stacked
    if stacked:
        fitting = (WIDTH - LABELS - SCALE_GAP * n_gaps) // len(scales)
    column = max(LEAST_COLUMN, min(fitting, 26 if stacked else WIDEST_COLUMN))
    grid = _lay_out(groups, scales, column)
    left = max(LABELS, widest([g.text for g in groups], SMALL) + 14)
    slot = max(SLOT, grid.width)
    map_height = HEAD + grid.upper + grid.height + grid.lower

    table = records_by(cells, "group", "scale")
    drawing = Drawing()
    sides = _sides(cells)
    missing = False
    for number, side in enumerate(sides):
        x = left + (0 if stacked else number * (slot + BETWEEN))
        y = number * (map_height + 28) if stacked else 0
        _draw_head(drawing, side, x, y + 6, slot)
        top = y + HEAD + grid.upper
        if stacked or number == 0:
            for group, row in zip(groups, grid.rows, strict=True):
                drawing.key = group.text
                drawing.text(left - 10, top + row + ROW / 2, group.text, color="ink",
                             align="right", size=SMALL)  # fmt: skip
        drawing.key = ""
        _draw_poles(drawing, scales, grid, x, top)
        missing |= _draw_cells(drawing, side, table, groups, scales, grid, (x, top))
    width = left + slot if stacked else left + 2 * slot + BETWEEN
    height = map_height + (map_height + 28 if stacked else 0)
    if missing:
        drawing.text(left, height + 12, MISSING, color="ink3", size=SMALL)
        height += 24
    return drawing.specification(
        width,
        height,
        title="People’s ratings and the model’s scores",
        description=f"Two heat maps with the same {len(groups)} rows (groups) and {len(scales)} "
        "columns (scales). People’s mean ratings are centered on 50, the model’s scores on 0.",
    )


def score_limit(scores: pd.Series[Any]) -> float:
    """Return where the model's scale is clipped: the 98th percentile of |score|, two digits.

    1.0 where there is no score but zero, so that an empty map still has a scale.
    """
    sizes = scores.abs().dropna().to_numpy(dtype=float)
    largest = float(np.percentile(sizes, CLIP_PERCENTILE)) if sizes.size else 0.0
    return float(f"{largest:.2g}") if largest > 0 else 1.0


def _lay_out(groups: list[GroupLabel], scales: list[ScaleLabel], column: int) -> _Grid:
    rows = starts([group.domain for group in groups], ROW, GROUP_GAP)
    columns = starts([scale.dimension for scale in scales], column, SCALE_GAP)
    blocks: list[tuple[str, str, float, float]] = []
    for i, (scale, x) in enumerate(zip(scales, columns, strict=True)):
        is_new = not i or scale.dimension != scales[i - 1].dimension
        start = blocks.pop()[2] if not is_new else x
        blocks.append((scale.dimension, scale.dimension_text, start, x + column - 1))
    crowded = any(text_width(word, 12.5) > end - start + 4 for _, word, start, end in blocks)
    return _Grid(
        rows=rows,
        columns=columns,
        column=column,
        height=rows[-1] + ROW,
        width=columns[-1] + column - 1,
        blocks=blocks,
        upper=widest([s.high for s in scales], SMALL) + 10,
        lower=widest([s.low for s in scales], SMALL) + 44 + (16 if crowded else 0),
    )


def _sides(cells: pd.DataFrame) -> tuple[_Side, _Side]:
    limit = score_limit(cells["model_mean"])
    decimals = max(0, 1 - int(np.floor(np.log10(limit))))
    low, high = (format_number(value, decimals, signed=True) for value in (-limit, limit))
    return (
        _Side(
            "People, " + _count_text(cells.loc[cells["human_n"] > 0, "human_n"], "rating"),
            "circle", "human", HUMAN_CENTER, HUMAN_LIMIT, 1, False,
            ("20 or less", "50", "80 or more"),
        ),
        _Side(
            "Model, " + _count_text(cells["model_n"].dropna(), "prompt"),
            "diamond", "model", 0.0, limit, decimals, True,
            (f"{low} or less", "0", f"{high} or more"),
        ),
    )  # fmt: skip


def _count_text(counts: pd.Series[Any], what: str) -> str:
    """Return on how many ratings or prompts a cell rests."""
    if counts.empty:
        return "mean rating" if what == "rating" else "score"
    low, high = int(counts.min()), int(counts.max())
    if low < high:
        return f"mean of {low} to {high} {what}s"
    if low > 1:
        return f"mean of {low} {what}s"
    return "one rating a cell" if what == "rating" else "one prompt"


def _draw_head(drawing: Drawing, side: _Side, x: float, y: float, slot: float) -> None:
    radius = 5 if side.shape == "circle" else 6
    drawing.symbol(x + 6, y + 6, side.shape, radius, color=side.column)
    drawing.text(x + 20, y + 6, side.head, color="ink", bold=True, size=13)
    drawing.color_scale(x + slot - SWATCH * len(DIVERGING), y, side.scale_texts)


def _draw_poles(
    drawing: Drawing, scales: list[ScaleLabel], grid: _Grid, x: float, top: float
) -> None:
    bottom = top + grid.height
    for scale, column in zip(scales, grid.columns, strict=True):
        middle = x + column + (grid.column - 1) / 2
        drawing.text(middle, top - 7, scale.high, size=SMALL, upright=True)
        drawing.text(middle, bottom + 6, scale.low, size=SMALL, upright=True, align="right")
    bracket = bottom + widest([s.low for s in scales], SMALL) + 16
    busy = -1.0
    for dimension, word, start, end in grid.blocks:
        if not word:
            continue
        token = dimension_token(dimension)
        drawing.box(x + start, bracket, end - start, 3, color=token)
        half = text_width(word, 12.5) / 2
        center = (start + end) / 2
        # A word wider than its bracket steps down a line where it would run into the last one.
        dodge = center - half < busy + 6 and busy >= 0
        drawing.text(x + max(center, half), bracket + 15 + (16 if dodge else 0), word,
                     color=token, align="center")  # fmt: skip
        busy = -1.0 if dodge else max(center, half) + half


def _draw_cells(
    drawing: Drawing,
    side: _Side,
    table: dict[Any, dict[str, Any]],
    groups: list[GroupLabel],
    scales: list[ScaleLabel],
    grid: _Grid,
    corner: tuple[float, float],
) -> bool:
    """Fill the cells and mark undecided ones; returns whether some have no value."""
    missing = False
    width, height = grid.column - 1, ROW - 1
    for group, row in zip(groups, grid.rows, strict=True):
        drawing.key = group.text
        for scale, column in zip(scales, grid.columns, strict=True):
            x, y = corner[0] + column, corner[1] + row
            key = (group.slug, scale.slug)
            value, low, high = (
                float(table[key][f"{side.column}_{part}"]) if key in table else np.nan
                for part in ("mean", "low", "high")
            )
            tip = ""
            if np.isnan(value):
                missing = True
            else:
                texts = [format_number(v, side.decimals, signed=side.signed)
                         for v in (value, low, high)]  # fmt: skip
                tip = f"{group.text}, {scale.low} to {scale.high}: {texts[0]}"
                tip += "" if np.isnan(low) else f" ({texts[1]} to {texts[2]})"
                tip += count_tip(table[key][f"{side.column}_n"])
            drawing.value_cell(
                (x, y), (width, height), value, center=side.center, limit=side.limit, tip=tip
            )
            if low <= side.center <= high and tip:
                drawing.dot(x + width / 2, y + height / 2, 1.6, color="ink2", opacity=0.75)
    drawing.key = ""
    return missing
