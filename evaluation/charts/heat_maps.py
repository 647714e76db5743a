"""The two pictures side by side: people's means and the model's scores, groups by scales."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evaluation.charts.drawing import Drawing
from evaluation.charts.lettering import (
    GroupLabel,
    ScaleLabel,
    arrange,
    format_number,
    records_by,
    text_width,
    widest,
)
from evaluation.charts.palette import DIVERGING, dimension_token, diverging_step

WIDTH = 1040
SLOT = 428  # room for one map beside the other
BETWEEN = 40
LABELS = 144  # room for the names of groups
HEAD = 58
ROW = 20
GROUP_GAP, SCALE_GAP = 7, 6
LEAST_COLUMN, WIDEST_COLUMN = 20, 40
SMALL = 12.0
SWATCH = 17
HUMAN_CENTRE, HUMAN_LIMIT = 50.0, 30.0
CLIP_PERCENTILE = 98


@dataclass(frozen=True)
class HeatMapWords:
    """Every text of the chart; {…} is filled in."""

    title: str = "People’s ratings and the model’s scores"
    description: str = (
        "Two heat maps with the same {groups} rows (groups) and {scales} columns (scales). "
        "People’s mean ratings are centred on 50, the model’s scores on 0."
    )
    people: str = "People, mean of {n} ratings"
    people_one: str = "People, one rating a cell"
    people_range: str = "People, mean of {low} to {high} ratings"
    people_bare: str = "People, mean rating"
    model: str = "Model, mean of {n} prompts"
    model_one: str = "Model, one prompt"
    model_range: str = "Model, mean of {low} to {high} prompts"
    model_bare: str = "Model, score"
    or_less: str = "{limit} or less"
    or_more: str = "{limit} or more"
    missing: str = "Outlined cells have no value"
    tip: str = "{group}, {low} to {high}: {value}"
    tip_interval: str = "{group}, {low} to {high}: {value} ({from_} to {to})"


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
    token: str
    column: str
    centre: float
    limit: float
    decimals: int
    signed: bool
    scale_texts: tuple[str, str, str]


def heat_maps_spec(
    cells: pd.DataFrame,
    *,
    groups: Sequence[GroupLabel],
    scales: Sequence[ScaleLabel],
    words: HeatMapWords | None = None,
    stacked: bool | None = None,
) -> dict[str, Any]:
    """Return the Vega-Lite specification of the two heat maps.

    cells : the table of that name of the alignment (`to_tables`)
    groups : rows; groups of one domain are brought together with a gap before the next
    scales : columns, the 100 pole above and the 0 pole below; those of one dimension together
    stacked : the model's map under the people's; by default only where columns would become
        narrower than 20 pixels side by side

    Ratings are clipped at 20 and 80, scores at the 98th percentile of their size rounded to two
    digits; both limits are printed. A dot marks a cell whose interval includes the centre.
    """
    words = words or HeatMapWords()
    groups = [groups[i] for i in arrange([g.domain for g in groups])]
    scales = [scales[i] for i in arrange([s.dimension for s in scales])]
    _validate(groups, scales)
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
    sides = _sides(cells, words)
    missing = False
    for number, side in enumerate(sides):
        x = left + (0 if stacked else number * (slot + BETWEEN))
        y = number * (map_height + 28) if stacked else 0
        _draw_head(drawing, side, x, y + 6, slot, words)
        top = y + HEAD + grid.upper
        if stacked or number == 0:
            for group, row in zip(groups, grid.rows, strict=True):
                drawing.text(left - 10, top + row + ROW / 2, group.text, colour="ink",
                             align="right", size=SMALL)  # fmt: skip
        _draw_poles(drawing, scales, grid, x, top)
        missing |= _draw_cells(drawing, side, table, groups, scales, grid, (x, top), words)
    width = left + slot if stacked else left + 2 * slot + BETWEEN
    height = map_height + (map_height + 28 if stacked else 0)
    if missing:
        drawing.text(left, height + 12, words.missing, colour="ink3", size=SMALL)
        height += 24
    return drawing.specification(
        width,
        height,
        title=words.title,
        description=words.description.format(groups=len(groups), scales=len(scales)),
    )


def score_limit(scores: pd.Series[Any]) -> float:
    """Return where the model's scale is clipped: the 98th percentile of |score|, two digits.

    1.0 where there is no score but zero, so that an empty map still has a scale.
    """
    sizes = scores.abs().dropna().to_numpy(dtype=float)
    largest = float(np.percentile(sizes, CLIP_PERCENTILE)) if sizes.size else 0.0
    return float(f"{largest:.2g}") if largest > 0 else 1.0


def _validate(groups: Sequence[GroupLabel], scales: Sequence[ScaleLabel]) -> None:
    if not groups or not scales:
        raise ValueError("a heat map needs at least one group and one scale")


def _lay_out(groups: list[GroupLabel], scales: list[ScaleLabel], column: int) -> _Grid:
    rows, y = [], 0.0
    for i, group in enumerate(groups):
        y += GROUP_GAP if i and group.domain != groups[i - 1].domain else 0
        rows.append(y)
        y += ROW
    columns: list[float] = []
    blocks: list[tuple[str, str, float, float]] = []
    x = 0.0
    for i, scale in enumerate(scales):
        if i and scale.dimension != scales[i - 1].dimension:
            x += SCALE_GAP
        if not i or scale.dimension != scales[i - 1].dimension:
            blocks.append((scale.dimension, scale.dimension_text, x, x))
        columns.append(x)
        x += column
        blocks[-1] = (*blocks[-1][:3], x - 1)
    crowded = any(text_width(word, 12.5) > end - start + 4 for _, word, start, end in blocks)
    return _Grid(
        rows=rows,
        columns=columns,
        column=column,
        height=y,
        width=x - 1,
        blocks=blocks,
        upper=widest([s.high for s in scales], SMALL) + 10,
        lower=widest([s.low for s in scales], SMALL) + 44 + (16 if crowded else 0),
    )


def _sides(cells: pd.DataFrame, words: HeatMapWords) -> tuple[_Side, _Side]:
    limit = score_limit(cells["model_mean"])
    decimals = max(0, 1 - int(np.floor(np.log10(limit))))

    def printed(value: float) -> str:
        return format_number(value, decimals, signed=True)

    people = _count_text(
        cells.loc[cells["human_n"] > 0, "human_n"],
        (words.people, words.people_one, words.people_range, words.people_bare),
    )
    model = _count_text(
        cells["model_n"].dropna(),
        (words.model, words.model_one, words.model_range, words.model_bare),
    )
    return (
        _Side(
            people, "circle", "human", "human", HUMAN_CENTRE, HUMAN_LIMIT, 1, False,
            (words.or_less.format(limit="20"), "50", words.or_more.format(limit="80")),
        ),
        _Side(
            model, "diamond", "model", "model", 0.0, limit, decimals, True,
            (
                words.or_less.format(limit=printed(-limit)),
                "0",
                words.or_more.format(limit=printed(limit)),
            ),
        ),
    )  # fmt: skip


def _count_text(counts: pd.Series[Any], texts: tuple[str, str, str, str]) -> str:
    several, one, varying, unknown = texts
    if counts.empty:
        return unknown
    low, high = int(counts.min()), int(counts.max())
    if low == high:
        return one if low == 1 else several.format(n=low)
    return varying.format(low=low, high=high)


def _draw_head(
    drawing: Drawing, side: _Side, x: float, y: float, slot: float, words: HeatMapWords
) -> None:
    drawing.symbol(x + 6, y + 6, side.shape, 5 if side.shape == "circle" else 6, colour=side.token)
    drawing.text(x + 20, y + 6, side.head, colour="ink", bold=True, size=13)
    start = x + slot - SWATCH * len(DIVERGING)
    for step, colour in enumerate(DIVERGING):
        drawing.box(start + SWATCH * step, y, SWATCH - 1, 12, colour=colour)
    low, middle, high = side.scale_texts
    end = start + SWATCH * len(DIVERGING) - 1
    drawing.text(start, y + 23, low, colour="ink3", size=SMALL)
    drawing.text((start + end) / 2, y + 23, middle, colour="ink3", align="center", size=SMALL)
    drawing.text(end, y + 23, high, colour="ink3", align="right", size=SMALL)


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
        drawing.box(x + start, bracket, end - start, 3, colour=token)
        half = text_width(word, 12.5) / 2
        centre = (start + end) / 2
        # A word wider than its bracket steps down a line where it would run into the last one.
        dodge = centre - half < busy + 6 and busy >= 0
        drawing.text(x + max(centre, half), bracket + 15 + (16 if dodge else 0), word,
                     colour=token, align="center")  # fmt: skip
        busy = -1.0 if dodge else max(centre, half) + half


def _draw_cells(
    drawing: Drawing,
    side: _Side,
    table: dict[Any, dict[str, Any]],
    groups: list[GroupLabel],
    scales: list[ScaleLabel],
    grid: _Grid,
    corner: tuple[float, float],
    words: HeatMapWords,
) -> bool:
    """Fill the cells and mark undecided ones; returns whether some have no value."""
    missing = False
    settle = _includes(side.centre)
    for group, row in zip(groups, grid.rows, strict=True):
        for scale, column in zip(scales, grid.columns, strict=True):
            x, y = corner[0] + column, corner[1] + row
            width, height = grid.column - 1, ROW - 1
            key = (group.slug, scale.slug)
            value, low, high = (
                float(table[key][f"{side.column}_{part}"]) if key in table else np.nan
                for part in ("mean", "low", "high")
            )
            if np.isnan(value):
                drawing.box(x, y, width, height, colour="line", outline=True)
                missing = True
                continue
            step = diverging_step(value, centre=side.centre, limit=side.limit)
            numbers = [
                format_number(v, side.decimals, signed=side.signed) for v in (value, low, high)
            ]
            text = words.tip if np.isnan(low) else words.tip_interval
            tip = text.format(
                group=group.text, low=scale.low, high=scale.high,
                value=numbers[0], from_=numbers[1], to=numbers[2],
            )  # fmt: skip
            drawing.box(x, y, width, height, colour=DIVERGING[step], tip=tip)
            if settle(low, high):
                drawing.dot(x + width / 2, y + height / 2, 1.6, colour="ink2", opacity=0.75)
    return missing


def _includes(centre: float) -> Callable[[float, float], bool]:
    def includes(low: float, high: float) -> bool:
        return bool(low <= centre <= high)

    return includes
