"""One group in detail: people and model against one centre line (Cao et al. 2022, Figure 1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evaluation.charts.drawing import Drawing
from evaluation.charts.lettering import (
    DASH,
    GroupLabel,
    ScaleLabel,
    arrange,
    decimals_for,
    format_number,
    format_tick,
    nice_limit,
    records_by,
    text_width,
    widest,
)
from evaluation.charts.palette import dimension_token

WIDTH = 1040
LEFT, RIGHT = 270, 820  # the axis
PLOT_TOP = 76
ROW, DIMENSION_GAP = 27, 14
ABOVE, BELOW = 4.0, 4.5  # people's marks above the middle of a row, the model's below


@dataclass(frozen=True)
class ProfileWords:
    """Every text of the chart; {…} is filled in."""

    title: str = "{group}: people’s mean ratings and the model’s scores"
    description: str = (
        "{group} on {n} scales. People and model share the centre line; "
        "ratings run from 0 to 100, scores from {low} to {high}. {agreement}"
    )
    people: str = "People"
    model: str = "Model"
    lines: str = "Lines are {level} % intervals"
    human_axis: str = "People: mean rating, 0–100"
    model_axis: str = "Model: mean score"
    rank: str = "Rank of {n}"
    tau: str = "τ = {tau} ({low} to {high})"
    tau_bare: str = "τ = {tau}"
    no_tau: str = "no τ: {reason}"
    raters: str = "n = {n} raters"
    raters_one: str = "n = 1 rater"
    prompts: str = "{n} prompts"
    prompts_one: str = "1 prompt"
    prompts_range: str = "{low} to {high} prompts"
    tip: str = "{who}, {low} to {high}: {value}"
    tip_interval: str = "{who}, {low} to {high}: {value} ({from_} to {to})"


@dataclass(frozen=True)
class _Axis:
    """One side's values to pixels on the shared axis."""

    centre: float
    limit: float
    left: float
    right: float

    def __call__(self, value: float) -> float:
        share = (value - self.centre) / self.limit
        return (self.left + self.right) / 2 + share * (self.right - self.left) / 2


@dataclass(frozen=True)
class _Side:
    name: str
    column: str
    token: str
    shape: str
    radius: float
    shift: float
    axis: _Axis
    decimals: int
    signed: bool


def profile_spec(
    cells: pd.DataFrame,
    groups_table: pd.DataFrame,
    *,
    group: GroupLabel,
    scales: Sequence[ScaleLabel],
    level: float = 0.95,
    words: ProfileWords | None = None,
) -> dict[str, Any]:
    """Return the Vega-Lite specification of one group's profile.

    cells, groups_table : the tables cells and groups of the alignment (`to_tables`)
    scales : from top to bottom, those of one dimension together
    level : coverage of the intervals that are drawn, 0 to 1

    The human axis (0 to 100, below) and the model's (symmetric round 0, above) share the centre
    line: only the order of scales can be compared, which the ranks at the right spell out.
    Raises ValueError where the tables do not hold the group.
    """
    words = words or ProfileWords()
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
    limit = nice_limit(_largest(own))
    sides = (
        _Side(words.people, "human", "human", "circle", 5, -ABOVE, _Axis(50, 50, left, right),
              1, False),
        _Side(words.model, "model", "model", "diamond", 6, BELOW, _Axis(0, limit, left, right),
              decimals_for(limit), True),
    )  # fmt: skip
    rows = _rows(scales)
    bottom = PLOT_TOP + rows[-1] + ROW + 3

    drawing = Drawing()
    agreement = _agreement(summary, own, words)
    _draw_legend(drawing, words, level, agreement, width, own)
    _draw_axes(drawing, sides, bottom, words)
    _draw_brackets(drawing, scales, rows, left - pole_room - 14 - 24)
    drawing.text(width - 4, PLOT_TOP - 32, words.rank.format(n=len(scales)), colour="ink3",
                 align="right")  # fmt: skip
    rank_columns = (width - 44, width - 4)
    for side, x in zip(sides, rank_columns, strict=True):
        drawing.symbol(x - 7, PLOT_TOP - 12, side.shape, side.radius, colour=side.token)
    for scale, row in zip(scales, rows, strict=True):
        y = PLOT_TOP + row + ROW / 2 + 2
        values = by_scale[scale.slug]
        drawing.text(left - 14, y, scale.low, colour="ink", align="right")
        drawing.text(right + 14, y, scale.high, colour="ink")
        for side, x in zip(sides, rank_columns, strict=True):
            _draw_mark(drawing, side, scale, values, y, words)
            rank = values[f"{side.column}_rank"]
            drawing.text(x, y, DASH if pd.isna(rank) else str(int(rank)), colour=side.token,
                         align="right", bold=True)  # fmt: skip
    decimals = sides[1].decimals
    return drawing.specification(
        width,
        bottom + 46,
        title=words.title.format(group=group.text),
        description=words.description.format(
            group=group.text,
            n=len(scales),
            low=format_number(-limit, decimals, signed=True),
            high=format_number(limit, decimals, signed=True),
            agreement=agreement,
        ),
    )


def _largest(own: pd.DataFrame) -> float:
    parts = own[["model_mean", "model_low", "model_high"]].abs().max().dropna()
    return float(parts.max()) if len(parts) else 0.0


def _rows(scales: list[ScaleLabel]) -> list[float]:
    rows, y = [], 0.0
    for i, scale in enumerate(scales):
        y += DIMENSION_GAP if i and scale.dimension != scales[i - 1].dimension else 0
        rows.append(y)
        y += ROW
    return rows


def _agreement(summary: dict[str, Any], own: pd.DataFrame, words: ProfileWords) -> str:
    tau, low, high = (float(summary[name]) for name in ("tau", "tau_low", "tau_high"))
    texts = {"tau": format_number(tau, 2), "low": format_number(low, 2),
             "high": format_number(high, 2)}  # fmt: skip
    if math.isnan(tau):
        first = words.no_tau.format(reason=summary["reason"])
    else:
        first = (words.tau_bare if math.isnan(low) else words.tau).format(**texts)
    raters = int(summary["n_raters"])
    parts = [first, words.raters_one if raters == 1 else words.raters.format(n=raters)]
    prompts = own["model_n"].dropna()
    if len(prompts):
        least, most = int(prompts.min()), int(prompts.max())
        if least < most:
            parts.append(words.prompts_range.format(low=least, high=most))
        else:
            parts.append(words.prompts_one if most == 1 else words.prompts.format(n=most))
    return ", ".join(parts)


def _draw_legend(
    drawing: Drawing,
    words: ProfileWords,
    level: float,
    agreement: str,
    width: float,
    own: pd.DataFrame,
) -> None:
    drawing.symbol(6, 10, "circle", 5, colour="human")
    drawing.text(19, 10, words.people, size=13)
    x = 19 + text_width(words.people, 13) + 26
    drawing.symbol(x, 10, "diamond", 6, colour="model")
    drawing.text(x + 13, 10, words.model, size=13)
    x += 13 + text_width(words.model, 13) + 22
    if own[["human_low", "model_low"]].notna().any(axis=None):
        drawing.text(x, 10, words.lines.format(level=f"{100 * level:g}"), size=13)
    drawing.text(width - 4, 10, agreement, size=13, align="right")


def _draw_axes(
    drawing: Drawing, sides: tuple[_Side, _Side], bottom: float, words: ProfileWords
) -> None:
    people, model = sides
    for part in (-1.0, -0.5, 0.0, 0.5, 1.0):
        rating, score = 50 + 50 * part, model.axis.limit * part
        x = people.axis(rating)
        drawing.line((x, PLOT_TOP), (x, bottom), colour="ink" if part == 0 else "line",
                     grid=True)  # fmt: skip
        drawing.text(x, bottom + 14, format_number(rating, 0), colour="human", align="center",
                     bold=True)  # fmt: skip
        drawing.text(x, PLOT_TOP - 12, format_tick(score, model.decimals, signed=True),
                     colour="model", align="center", bold=True)  # fmt: skip
    drawing.text(people.axis.right, bottom + 34, words.human_axis, colour="human", align="right",
                 bold=True)  # fmt: skip
    drawing.text(model.axis.left, PLOT_TOP - 32, words.model_axis, colour="model", bold=True)


def _draw_brackets(drawing: Drawing, scales: list[ScaleLabel], rows: list[float], x: float) -> None:
    start = 0
    for i, scale in enumerate(scales):
        if i + 1 < len(scales) and scales[i + 1].dimension == scale.dimension:
            continue
        if scale.dimension_text:
            token = dimension_token(scale.dimension)
            top, end = PLOT_TOP + rows[start] + 4, PLOT_TOP + rows[i] + ROW
            drawing.box(x - 3, top, 3, end - top, colour=token)
            drawing.text(x - 13, (top + end) / 2, scale.dimension_text, colour=token,
                         align="right")  # fmt: skip
        start = i + 1


def _draw_mark(
    drawing: Drawing,
    side: _Side,
    scale: ScaleLabel,
    values: dict[str, Any],
    middle: float,
    words: ProfileWords,
) -> None:
    value, low, high = (float(values[f"{side.column}_{part}"]) for part in ("mean", "low", "high"))
    if math.isnan(value):
        return
    y = middle + side.shift
    if not math.isnan(low):
        drawing.line((side.axis(low), y), (side.axis(high), y), colour=side.token, width=1.75)
    value_text, low_text, high_text = (
        format_number(v, side.decimals, signed=side.signed) for v in (value, low, high)
    )
    text = words.tip if math.isnan(low) else words.tip_interval
    tip = text.format(
        who=side.name, low=scale.low, high=scale.high,
        value=value_text, from_=low_text, to=high_text,
    )  # fmt: skip
    drawing.symbol(side.axis(value), y, side.shape, side.radius, colour=side.token, tip=tip)
