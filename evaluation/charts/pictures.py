"""Pictures of the same scales beside each other, and where two of them part.

Each picture has its own unit, so that each column has its own axis round zero. The word at the low
end of a scale stands at the left, that at the high end at the right.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evaluation.charts.axis import Axis
from evaluation.charts.canvas import SMALL, Drawing
from evaluation.charts.intervals import NARROW, Tone
from evaluation.charts.palette import TEXT_SIZE, dimension_token
from evaluation.charts.text_metrics import ScaleLabel, format_number, text_width, widest

ROW, NARROW_ROW, DIMENSION_GAP = 23, 36, 12
COLUMN, COLUMN_GAP, EDGE = 166, 36, 20
HEAD = 92
RANK = 26
RADIUS = 4.6
# Two pictures of one column lie this far above and below the middle of a row.
APART = 4
PANEL, PANEL_GAP = 206, 78
NAMED = 3
SHAPES = {"agency": "square", "beliefs": "triangle-up", "communion": "cross"}


@dataclass(frozen=True)
class PictureMark:
    """A difference with its interval and its place among all scales; NaN where undefined."""

    value: float
    low: float = math.nan
    high: float = math.nan
    rank: int | None = None


@dataclass(frozen=True)
class PictureMarks:
    """One picture; ``dashed`` ones are of groups by name."""

    label: str
    tone: Tone
    dashed: bool
    by_scale: Mapping[str, PictureMark]


@dataclass(frozen=True)
class PictureColumn:
    """Pictures that share an axis."""

    heading: str
    unit: str
    pictures: tuple[PictureMarks, ...]

    @property
    def reach(self) -> float:
        marks = [mark for one in self.pictures for mark in one.by_scale.values()]
        values = [value for mark in marks for value in (mark.value, mark.low, mark.high)]
        known = [abs(value) for value in values if math.isfinite(value)]
        return max(known, default=1.0)


@dataclass(frozen=True)
class PictureWords:
    """What the chart is about, the level of its intervals, and what tinted rows are."""

    title: str
    level: str
    tinted: str
    ranks: str


@dataclass(frozen=True)
class PicturePair:
    """Two pictures as points; ``tau`` is printed above them."""

    x: PictureMarks
    y: PictureMarks
    tau: str


@dataclass
class _Rows:
    """Where the rows of the scales are, dimension by dimension."""

    at: dict[str, float] = field(default_factory=dict)
    dimensions: list[tuple[str, str, float, float]] = field(default_factory=list)
    bottom: float = 0.0


def pictures_spec(
    scales: Sequence[ScaleLabel],
    columns: Sequence[PictureColumn],
    *,
    tinted: Collection[str],
    words: PictureWords,
) -> dict[str, Any]:
    """Return the Vega-Lite specification: a row for every scale, a column for every unit."""
    drawing = Drawing()
    dimension_at = widest([scale.dimension_text for scale in scales], 12.5)
    left = dimension_at + 24 + widest([scale.low for scale in scales], 12.5)
    starts = [left + 20 + place * (COLUMN + COLUMN_GAP) for place in range(len(columns))]
    high_at = starts[-1] + COLUMN + 18
    pictures = [one for column in columns for one in column.pictures]
    ranks_at = high_at + widest([scale.high for scale in scales], 12.5) + 26
    width = ranks_at + RANK * (len(pictures) - 1) + 10
    y = _draw_legend(drawing, columns, words, width)
    rows = _place_rows(scales, y + HEAD, ROW)
    for slug in tinted:
        box = (dimension_at + 18, rows.at[slug] - ROW / 2, width - dimension_at - 18, ROW - 1)
        drawing.box(*box, color="diverging-center")
    for dimension, text, top, bottom in rows.dimensions:
        color = dimension_token(dimension)
        drawing.text(dimension_at, (top + bottom) / 2, text, color=color, align="right")
        line = ((dimension_at + 10, top - 9), (dimension_at + 10, bottom + 9))
        drawing.line(*line, color=color, width=3)
    for scale in scales:
        drawing.key = _name(scale)
        drawing.text(left, rows.at[scale.slug], scale.low, color="ink", align="right")
        drawing.text(high_at, rows.at[scale.slug], scale.high, color="ink")
    drawing.key = ""
    for column, start in zip(columns, starts, strict=True):
        _draw_head(drawing, column, start, y + 24)
        _draw_column(drawing, column, start, rows, y + HEAD - 18, words.level, scales)
    last = ranks_at + RANK * (len(pictures) - 1)
    names = {scale.slug: _name(scale) for scale in scales}
    drawing.text(last + 6, y + 24, words.ranks, color="ink3", align="right", size=SMALL)
    for place, one in enumerate(pictures):
        x = ranks_at + RANK * place
        _draw_symbol(drawing, x, y + 56, one)
        for slug, mark in one.by_scale.items():
            drawing.key = names[slug]
            rank = "–" if mark.rank is None else str(mark.rank)
            drawing.text(x + 6, rows.at[slug], rank, color=one.tone, align="right", size=SMALL)
        drawing.key = ""
    return drawing.specification(
        width, rows.bottom + 62, title=words.title, description=_describe(pictures)
    )


def narrow_pictures_spec(
    scales: Sequence[ScaleLabel],
    columns: Sequence[PictureColumn],
    *,
    tinted: Collection[str],
    words: PictureWords,
) -> dict[str, Any]:
    """Return the same picture as wide as a phone: the columns one below the other."""
    drawing = Drawing()
    y = _draw_legend(drawing, columns, words, NARROW)
    for column in columns:
        drawing.text(0, y + 26, column.heading, color="ink", bold=True)
        rows = _place_rows(scales, y + 70, NARROW_ROW)
        for slug in tinted:
            top = rows.at[slug] - NARROW_ROW + 12
            drawing.box(0, top, NARROW, NARROW_ROW - 1, color="diverging-center")
        for scale in scales:
            color = dimension_token(scale.dimension)
            name = drawing.key = _name(scale)
            drawing.text(0, rows.at[scale.slug] - 16, name, color=color, size=SMALL)
        drawing.key = ""
        _draw_column(
            drawing, column, EDGE, rows, y + 40, words.level, scales, width=NARROW - 2 * EDGE
        )
        y = rows.bottom + 58
    pictures = [one for column in columns for one in column.pictures]
    return drawing.specification(NARROW, y, title=words.title, description=_describe(pictures))


def picture_pairs_spec(
    scales: Sequence[ScaleLabel], pairs: Sequence[PicturePair], *, title: str, stacked: bool = False
) -> dict[str, Any]:
    """Return every pair of pictures as points, the quarters tinted where the two differ in sign."""
    drawing = Drawing()
    x = 0.0
    y = 10.0
    for dimension, text in dict.fromkeys((one.dimension, one.dimension_text) for one in scales):
        drawing.symbol(
            x + 6,
            y,
            SHAPES.get(dimension, "circle"),
            RADIUS,
            color=dimension_token(dimension),
        )
        drawing.text(x + 18, y, text, size=13)
        x += 18 + text_width(text, 13) + 24
    left, top = 44.0, 84.0
    for place, pair in enumerate(pairs):
        corner = (
            (left, top + place * (PANEL + 112))
            if stacked
            else (left + place * (PANEL + PANEL_GAP), top)
        )
        _draw_pair(drawing, scales, pair, corner)
    across, down = (1, len(pairs)) if stacked else (len(pairs), 1)
    width = left + across * PANEL + (across - 1) * PANEL_GAP + 12
    height = top + down * PANEL + (down - 1) * 112 + 50
    told = "; ".join(f"{pair.y.label} against {pair.x.label}: {pair.tau}" for pair in pairs)
    return drawing.specification(
        NARROW if stacked else width, height, title=title, description=f"{told}."
    )


def _place_rows(scales: Sequence[ScaleLabel], top: float, height: float) -> _Rows:
    rows = _Rows()
    y = top
    for place, scale in enumerate(scales):
        if place and scale.dimension != scales[place - 1].dimension:
            y += DIMENSION_GAP
        if not place or scale.dimension != scales[place - 1].dimension:
            rows.dimensions.append((scale.dimension, scale.dimension_text, y, y))
        rows.dimensions[-1] = (*rows.dimensions[-1][:3], y)
        rows.at[scale.slug] = y
        y += height
    rows.bottom = y - height / 2
    return rows


def _draw_legend(
    drawing: Drawing, columns: Sequence[PictureColumn], words: PictureWords, width: float
) -> float:
    """Draw what the marks are, in as many lines as it takes; return the lower edge."""
    x, y = 0.0, 10.0

    def move(text: str, room: float) -> float:
        nonlocal x, y
        needed = room + text_width(text, 13)
        if x and x + needed > width:
            x, y = 0.0, y + 22
        at = x
        x += needed + 24
        return at

    for one in (one for column in columns for one in column.pictures):
        at = move(one.label, 20)
        _draw_symbol(drawing, at + 6, y, one)
        drawing.text(at + 20, y, one.label, size=13)
    at = move(words.tinted, 36)
    drawing.box(at, y - 6, 26, 12, color="diverging-center")
    drawing.box(at, y - 6, 26, 12, color="line", outline=True)
    drawing.text(at + 36, y, words.tinted, size=13)
    return y + 14


def _draw_head(drawing: Drawing, column: PictureColumn, start: float, y: float) -> None:
    tone = column.pictures[0].tone
    drawing.text(start, y, column.heading, color=tone, bold=True)
    drawing.line((start, y + 14), (start + COLUMN, y + 14), color=tone, width=2)


def _draw_column(
    drawing: Drawing,
    column: PictureColumn,
    start: float,
    rows: _Rows,
    top: float,
    level: str,
    scales: Sequence[ScaleLabel],
    *,
    width: float = COLUMN,
) -> None:
    axis = Axis(start, (-column.reach, column.reach), reference=0.0, width=width)
    axis.draw_grid(drawing, top, rows.bottom)
    # Tinted rows lie over the grid.
    drawing.line((axis(0.0), top), (axis(0.0), rows.bottom), color="ink")
    axis.draw(drawing, column.unit, rows.bottom, signed=True)
    shift = APART if len(column.pictures) > 1 else 0
    names = {scale.slug: _name(scale) for scale in scales}
    for place, one in enumerate(column.pictures):
        for slug, mark in one.by_scale.items():
            if math.isnan(mark.value):
                continue
            drawing.key = names[slug]
            y = rows.at[slug] + (2 * place - 1) * shift
            told = format_number(mark.value, 2, signed=True)
            if math.isfinite(mark.low):
                ends = ((axis(mark.low), y), (axis(mark.high), y))
                drawing.line(*ends, color=one.tone, width=1.6, dash=(3, 2) if one.dashed else ())
                low, high = (format_number(end, 2, signed=True) for end in (mark.low, mark.high))
                told += f", {level} interval {low} to {high}"
            _draw_symbol(drawing, axis(mark.value), y, one, f"{names[slug]}, {one.label}: {told}")
    drawing.key = ""


def _draw_symbol(drawing: Drawing, x: float, y: float, one: PictureMarks, tip: str = "") -> None:
    shape, radius = ("diamond", RADIUS + 1) if one.tone == "model" else ("circle", RADIUS)
    drawing.symbol(x, y, shape, radius, color=one.tone, outlined=one.dashed, tip=tip)


def _draw_pair(
    drawing: Drawing,
    scales: Sequence[ScaleLabel],
    pair: PicturePair,
    corner: tuple[float, float],
) -> None:
    left, top = corner
    right, bottom = left + PANEL, top + PANEL
    shown = [
        (scale, pair.x.by_scale[scale.slug].value, pair.y.by_scale[scale.slug].value)
        for scale in scales
        if all(math.isfinite(one.by_scale[scale.slug].value) for one in (pair.x, pair.y))
    ]
    across = Axis(left, _both_signs([x for _, x, _ in shown]), reference=0.0, width=PANEL)
    up = Axis(0, _both_signs([y for *_, y in shown]), reference=0.0, width=PANEL)

    def height(value: float) -> float:
        return bottom - up(value)

    drawing.text(left, top - 34, pair.tau, color="ink", bold=True)
    drawing.text(left, top - 14, pair.y.label, color=pair.y.tone, bold=True, size=SMALL)
    zero_x, zero_y = across(0.0), height(0.0)
    drawing.box(left, top, zero_x - left, zero_y - top, color="diverging-center")
    drawing.box(zero_x, zero_y, right - zero_x, bottom - zero_y, color="diverging-center")
    across.draw_grid(drawing, top, bottom)
    ends = across.ticks[0], across.ticks[-1]
    for tick in (ends[0], 0.0, ends[1]):
        text = format_number(tick, across.decimals, signed=True)
        drawing.text(across(tick), bottom + 14, text, color="ink3", align="center", size=SMALL)
    for tick in up.ticks:
        y, marked = height(tick), abs(tick) < up.tick / 1e6
        drawing.line((left, y), (right, y), color="ink" if marked else "line", grid=True)
        if tick in (up.ticks[0], up.ticks[-1]) or marked:
            text = format_number(tick, up.decimals, signed=True)
            drawing.text(left - 6, y, text, color="ink3", align="right", size=SMALL)
    drawing.text(right, bottom + 34, pair.x.label, color=pair.x.tone, align="right", size=SMALL)
    far = sorted(
        shown, key=lambda one: -math.hypot(across(one[1]) - zero_x, height(one[2]) - zero_y)
    )
    named: list[float] = []
    for *_, y in far[:NAMED]:
        # Of names that would lie over each other the farthest stays.
        named += [y] if all(abs(height(y) - height(other)) > TEXT_SIZE for other in named) else []
    for scale, x, y in shown:
        at = (across(x), height(y))
        drawing.key = _name(scale)
        tip = f"{drawing.key}: {format_number(x, 2)} and {format_number(y, 2)}"
        shape = SHAPES.get(scale.dimension, "circle")
        drawing.symbol(*at, shape, RADIUS, color=dimension_token(scale.dimension), tip=tip)
        if y in named:
            is_right = at[0] > (left + right) / 2
            drawing.text(
                at[0] + (-9 if is_right else 9), at[1], scale.high,
                align="right" if is_right else "left", size=SMALL,
            )  # fmt: skip
    drawing.key = ""


def _name(scale: ScaleLabel) -> str:
    return f"{scale.low} – {scale.high}"


def _both_signs(values: Sequence[float]) -> tuple[float, float]:
    reach = max(map(abs, values), default=1.0) or 1.0
    return -reach, reach


def _describe(pictures: Sequence[PictureMarks]) -> str:
    parts = []
    for one in pictures:
        known = [mark.value for mark in one.by_scale.values() if math.isfinite(mark.value)]
        above = sum(value > 0 for value in known)
        parts.append(f"{one.label}: {above} of {len(known)} scales above zero")
    return "; ".join(parts) + "."
