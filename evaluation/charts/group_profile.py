"""One group in detail: people and model against one center line (Cao et al. 2022, Figure 1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from annotation.common.lazy import pd
from evaluation.charts.canvas import Drawing
from evaluation.charts.palette import dimension_token
from evaluation.charts.text_metrics import (
    DASH,
    GroupLabel,
    ScaleLabel,
    arrange,
    count_tip,
    decimals_for,
    format_number,
    format_tick,
    records_by,
    round_up,
    starts,
    text_width,
    widest,
)

WIDTH = 1040
LEFT, RIGHT = 270, 820  # the axis
PLOT_TOP = 76
ROW, DIMENSION_GAP = 27, 14
ABOVE, BELOW = 4.0, 4.5  # people's marks above the middle of a row, the model's below


@dataclass(frozen=True)
class _Side:
    """People or the model: how their values are drawn, on an axis of `limit` round `center`."""

    name: str
    column: str
    shape: str
    radius: float
    shift: float
    center: float
    limit: float
    ends: tuple[float, float]
    decimals: int
    signed: bool

    def x(self, value: float) -> float:
        left, right = self.ends
        return (left + right) / 2 + (value - self.center) / self.limit * (right - left) / 2

    def text(self, value: float) -> str:
        return format_number(value, self.decimals, signed=self.signed)


def profile_spec(
    cells: pd.DataFrame,
    groups_table: pd.DataFrame,
    *,
    group: GroupLabel,
    scales: Sequence[ScaleLabel],
    level: float = 0.95,
    model_axis: str = "Model: mean score",
) -> dict[str, Any]:
    """Return the Vega-Lite specification of one group's profile.

    cells, groups_table : the tables cells and groups of the alignment (`reports.alignment_tables`)
    scales : from top to bottom, those of one dimension together
    level : coverage of the intervals that are drawn, 0 to 1
    model_axis : what the model's axis is called

    The human axis (0 to 100, below) and the model's (symmetric round 0, above) share the center
    line: only the order of scales can be compared, which the ranks at the right spell out.
    Raises ValueError where the tables do not hold the group.
    """
    scales = [scales[i] for i in arrange([s.dimension for s in scales])]
    own = cells[(cells["group"] == group.slug) & cells["scale"].isin([s.slug for s in scales])]
    by_scale = records_by(own, "scale")
    summary = records_by(groups_table, "group").get(group.slug)
    scales = [scale for scale in scales if scale.slug in by_scale]
    if summary is None or not scales:
        raise ValueError(f"the tables hold nothing about {group.slug}")

    word_room = widest([s.dimension_text for s in scales], 12.5)
    pole_room = widest([s.low for s in scales], 12.5)
    left = max(LEFT, word_room + 23 + 24 + pole_room + 14)
    right = left + (RIGHT - LEFT)
    width = max(WIDTH + left - LEFT, right + 14 + widest([s.high for s in scales], 12.5) + 110)
    sizes = own[["model_mean", "model_low", "model_high"]].abs().max().dropna()
    limit = round_up(float(sizes.max()) if len(sizes) else 0.0)
    ends = (left, right)
    people = _Side("People", "human", "circle", 5, -ABOVE, 50, 50, ends, 1, False)
    model = _Side("Model", "model", "diamond", 6, BELOW, 0, limit, ends, decimals_for(limit), True)
    rows = starts([scale.dimension for scale in scales], ROW, DIMENSION_GAP)
    bottom = PLOT_TOP + rows[-1] + ROW + 3

    drawing = Drawing()
    agreement = _agreement(summary, own)
    has_intervals = own[["human_low", "model_low"]].notna().any(axis=None)
    _draw_legend(drawing, f"Lines are {100 * level:g} % intervals" if has_intervals else "")
    drawing.text(width - 4, 10, agreement, size=13, align="right")
    _draw_axes(drawing, people, model, bottom, model_axis)
    _draw_brackets(drawing, scales, rows, left - pole_room - 14 - 24)
    drawing.text(width - 4, PLOT_TOP - 32, f"Rank of {len(scales)}", color="ink3", align="right")
    ranks = ((people, width - 44), (model, width - 4))
    for side, x in ranks:
        drawing.symbol(x - 7, PLOT_TOP - 12, side.shape, side.radius, color=side.column)
    for scale, row in zip(scales, rows, strict=True):
        y = PLOT_TOP + row + ROW / 2 + 2
        values = by_scale[scale.slug]
        drawing.text(left - 14, y, scale.low, color="ink", align="right")
        drawing.text(right + 14, y, scale.high, color="ink")
        for side, x in ranks:
            _draw_mark(drawing, side, scale, values, y)
            rank = values[f"{side.column}_rank"]
            text = DASH if pd.isna(rank) else str(int(rank))
            drawing.text(x, y, text, color=side.column, align="right", bold=True)
    return drawing.specification(
        width,
        bottom + 46,
        title=f"{group.text}: people’s mean ratings and the model’s scores",
        description=f"{group.text} on {len(scales)} scales. People and model share the center "
        f"line; ratings run from 0 to 100, scores from {model.text(-limit)} to "
        f"{model.text(limit)}. {agreement}",
    )


def _agreement(summary: dict[str, Any], own: pd.DataFrame) -> str:
    tau, low, high = (float(summary[name]) for name in ("tau", "tau_low", "tau_high"))
    text = f"no τ: {summary['reason']}" if math.isnan(tau) else f"τ = {format_number(tau, 2)}"
    if not math.isnan(tau) and not math.isnan(low):
        text += f" ({format_number(low, 2)} to {format_number(high, 2)})"
    raters = int(summary["n_raters"])
    text += f", n = {raters} rater{'s' if raters != 1 else ''}"
    prompts = own["model_n"].dropna()
    if len(prompts):
        least, most = int(prompts.min()), int(prompts.max())
        text += f", {least} to {most} prompts" if least < most else f", {most} prompt"
        text += "s" if least == most != 1 else ""
    return text


def _draw_legend(drawing: Drawing, intervals: str) -> None:
    drawing.symbol(6, 10, "circle", 5, color="human")
    drawing.text(19, 10, "People", size=13)
    x = 19 + text_width("People", 13) + 26
    drawing.symbol(x, 10, "diamond", 6, color="model")
    drawing.text(x + 13, 10, "Model", size=13)
    if intervals:
        drawing.text(x + 13 + text_width("Model", 13) + 22, 10, intervals, size=13)


def _draw_axes(
    drawing: Drawing, people: _Side, model: _Side, bottom: float, model_axis: str
) -> None:
    for part in (-1.0, -0.5, 0.0, 0.5, 1.0):
        rating, score = 50 + 50 * part, model.limit * part
        x = people.x(rating)
        color = "ink" if part == 0 else "line"
        drawing.line((x, PLOT_TOP), (x, bottom), color=color, grid=True)
        for y, text, side in (
            (bottom + 14, format_number(rating, 0), "human"),
            (PLOT_TOP - 12, format_tick(score, model.decimals, signed=True), "model"),
        ):
            drawing.text(x, y, text, color=side, align="center", bold=True)
    left, right = people.ends
    drawing.text(right, bottom + 34, "People: mean rating, 0–100", color="human", align="right",
                 bold=True)  # fmt: skip
    drawing.text(left, PLOT_TOP - 32, model_axis, color="model", bold=True)


def _draw_brackets(drawing: Drawing, scales: list[ScaleLabel], rows: list[float], x: float) -> None:
    start = 0
    for i, scale in enumerate(scales):
        if i + 1 < len(scales) and scales[i + 1].dimension == scale.dimension:
            continue
        if scale.dimension_text:
            token = dimension_token(scale.dimension)
            top, end = PLOT_TOP + rows[start] + 4, PLOT_TOP + rows[i] + ROW
            drawing.box(x - 3, top, 3, end - top, color=token)
            drawing.text(x - 13, (top + end) / 2, scale.dimension_text, color=token,
                         align="right")  # fmt: skip
        start = i + 1


def _draw_mark(
    drawing: Drawing, side: _Side, scale: ScaleLabel, values: dict[str, Any], middle: float
) -> None:
    value, low, high = (float(values[f"{side.column}_{part}"]) for part in ("mean", "low", "high"))
    if math.isnan(value):
        return
    y = middle + side.shift
    tip = f"{side.name}, {scale.low} to {scale.high}: {side.text(value)}"
    if not math.isnan(low):
        drawing.line((side.x(low), y), (side.x(high), y), color=side.column, width=1.75)
        tip += f" ({side.text(low)} to {side.text(high)})"
    tip += count_tip(values[f"{side.column}_n"])
    drawing.symbol(side.x(value), y, side.shape, side.radius, color=side.column, tip=tip)
