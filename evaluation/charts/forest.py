"""Agreement of every group as a forest: tau, its interval, the noise ceiling, all pooled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from evaluation.charts.drawing import Drawing
from evaluation.charts.lettering import (
    DASH,
    GroupLabel,
    format_number,
    format_tick,
    records_by,
    text_width,
    widest,
)

LABELS = 162
PLOT = 514  # width of the axis
ROW = 25
FIRST_ROW = 81
TICK = 0.2


@dataclass(frozen=True)
class ForestWords:
    """Every text of the chart; {…} is filled in."""

    title: str = "Kendall’s τ between the model’s scores and people’s means, by group"
    description: str = (
        "{n} groups in order of τ, from {highest} to {lowest}. All cells pooled: τ = {tau}."
    )
    description_empty: str = "No group has a τ."
    legend_tau: str = "τ with its {level} interval"
    legend_ceiling: str = "Noise ceiling: mean and middle {share} of split halves"
    group: str = "Group"
    tau: str = "τ"
    interval: str = "{level} interval"
    ceiling: str = "ceiling"
    n: str = "n"
    pooled: str = "all {n} cells pooled"
    axis: str = "Kendall’s τ between the model’s scores and the means of people’s ratings"
    to: str = "{low} to {high}"
    no_interval: str = "no interval"
    percent: str = "{n} %"
    tip: str = "{group}: τ = {tau}, {interval}, n = {n}"


@dataclass(frozen=True)
class _Row:
    name: str
    tau: float
    low: float
    high: float
    ceiling: tuple[float, float, float]  # mean, low, high
    n: int
    reason: str


class _Axis:
    """Tau to pixels, from a tick below the smallest value to one above the largest."""

    def __init__(self, left: float, values: Sequence[float]) -> None:
        known = [value for value in values if not math.isnan(value)]
        low, high = min([0.0, *known]), max([0.0, *known])
        self.first = math.floor(round(low / TICK, 9))
        self.last = max(math.ceil(round(high / TICK, 9)), self.first + 4, 1)
        self.left, self.right = left, left + PLOT

    def __call__(self, tau: float) -> float:
        span = (self.last - self.first) * TICK
        return self.left + (tau - self.first * TICK) / span * PLOT

    @property
    def ticks(self) -> list[float]:
        return [tick * TICK for tick in range(self.first, self.last + 1)]


def forest_spec(
    groups_table: pd.DataFrame,
    overall: pd.DataFrame,
    *,
    groups: Sequence[GroupLabel],
    words: ForestWords | None = None,
    reasons: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the Vega-Lite specification of the forest.

    groups_table, overall : the tables groups and overall of the alignment (`to_tables`)
    groups : how the groups are written; those without a row in the table are not drawn
    reasons : translations of the reasons for missing values; by default as in the table

    Highest tau first; groups without a tau stand last with the reason in their row.
    """
    words = words or ForestWords()
    table = records_by(groups_table, "group")
    rows = [_read_row(label, table[label.slug]) for label in groups if label.slug in table]
    rows.sort(key=lambda row: -math.inf if math.isnan(row.tau) else row.tau, reverse=True)
    whole = records_by(overall, "quantity")
    pooled = _read_pooled(whole, words)

    left = max(LABELS, widest([row.name for row in [*rows, pooled]], 12.5) + 8)
    values = [v for row in [*rows, pooled] for v in (row.tau, row.low, row.high, *row.ceiling)]
    axis = _Axis(left + 14, values)
    columns = {
        "tau": axis.right + 46, "interval": axis.right + 78,
        "ceiling": axis.right + 266, "n": axis.right + 346,
    }  # fmt: skip
    last = FIRST_ROW + ROW * len(rows)
    rule = last - 3
    pooled_y = rule + 21
    bottom = pooled_y + 18

    drawing = Drawing()
    level = _percent(whole, "tau_pooled", words)
    _draw_legend(drawing, words, level, _percent(whole, "ceiling_pooled", words))
    _draw_heads(drawing, words, level, left, columns)
    for tick in axis.ticks:
        zero = abs(tick) < TICK / 2
        drawing.line((axis(tick), FIRST_ROW - 15), (axis(tick), bottom),
                     colour="ink" if zero else "line", grid=True)  # fmt: skip
        drawing.text(axis(tick), bottom + 14, format_tick(round(tick, 2), 2), colour="ink3",
                     align="center")  # fmt: skip
    for i, row in enumerate([*rows, pooled]):
        y = pooled_y if row is pooled else FIRST_ROW + ROW * i
        _draw_ceiling(drawing, axis, row, y)
    for i, row in enumerate(rows):
        y = FIRST_ROW + ROW * i
        _draw_estimate(drawing, axis, row, y, words)
        drawing.text(left, y, row.name, colour="ink", align="right")
        _draw_numbers(drawing, row, y, columns, words, reasons or {})
    drawing.line((0, rule), (columns["n"] + 4, rule), colour="control")
    _draw_pooled(drawing, axis, pooled, pooled_y)
    drawing.text(left, pooled_y, pooled.name, colour="ink", align="right", bold=True)
    _draw_numbers(drawing, pooled, pooled_y, columns, words, reasons or {})
    drawing.text((axis.left + axis.right) / 2, bottom + 34, words.axis, colour="ink3",
                 align="center")  # fmt: skip
    return drawing.specification(
        columns["n"] + 4,
        bottom + 46,
        title=words.title,
        description=_describe(rows, pooled, words),
    )


def _read_row(label: GroupLabel, row: dict[str, Any]) -> _Row:
    return _Row(
        name=label.text,
        tau=float(row["tau"]),
        low=float(row["tau_low"]),
        high=float(row["tau_high"]),
        ceiling=(row["ceiling_mean"], row["ceiling_low"], row["ceiling_high"]),
        n=int(row["n_raters"]),
        reason=str(row["reason"]),
    )


def _read_pooled(overall: dict[str, dict[str, Any]], words: ForestWords) -> _Row:
    tau, ceiling = overall["tau_pooled"], overall["ceiling_pooled"]
    return _Row(
        name=words.pooled.format(n=int(tau["n"])),
        tau=float(tau["value"]),
        low=float(tau["low"]),
        high=float(tau["high"]),
        ceiling=(float(ceiling["value"]), float(ceiling["low"]), float(ceiling["high"])),
        n=int(overall["annotations"]["value"]),
        reason=str(tau["reason"]),
    )


def _percent(overall: dict[str, dict[str, Any]], quantity: str, words: ForestWords) -> str:
    return words.percent.format(n=f"{100 * float(overall[quantity]['level']):g}")


def _draw_legend(drawing: Drawing, words: ForestWords, level: str, share: str) -> None:
    drawing.line((0, 10), (34, 10), colour="ink", width=1.75)
    drawing.symbol(17, 10, "circle", 5, colour="ink")
    first = words.legend_tau.format(level=level)
    drawing.text(42, 10, first, size=13)
    x = 42 + text_width(first, 13) + 26
    drawing.box(x, 2, 34, 16, colour="band")
    drawing.line((x + 17, 2), (x + 17, 18), colour="ink2", width=1.25, dash=(2, 2))
    drawing.text(x + 42, 10, words.legend_ceiling.format(share=share), size=13)


def _draw_heads(
    drawing: Drawing, words: ForestWords, level: str, left: float, columns: dict[str, float]
) -> None:
    y = FIRST_ROW - 28
    drawing.text(left, y, words.group, colour="ink3", align="right")
    drawing.text(columns["tau"], y, words.tau, colour="ink3", align="right")
    drawing.text(columns["interval"], y, words.interval.format(level=level), colour="ink3")
    drawing.text(columns["ceiling"], y, words.ceiling, colour="ink3", align="right")
    drawing.text(columns["n"], y, words.n, colour="ink3", align="right")


def _draw_ceiling(drawing: Drawing, axis: _Axis, row: _Row, y: float) -> None:
    mean, low, high = row.ceiling
    if math.isnan(mean):
        return
    drawing.box(axis(low), y - 8, max(axis(high) - axis(low), 1.0), 16, colour="band")
    drawing.line((axis(mean), y - 8), (axis(mean), y + 8), colour="ink2", width=1.25, dash=(2, 2))


def _draw_estimate(drawing: Drawing, axis: _Axis, row: _Row, y: float, words: ForestWords) -> None:
    if math.isnan(row.tau):
        return
    if not math.isnan(row.low):
        drawing.line((axis(row.low), y), (axis(row.high), y), colour="ink", width=1.75)
    tip = words.tip.format(
        group=row.name, tau=format_number(row.tau, 2), interval=_interval(row, words), n=row.n
    )
    drawing.symbol(axis(row.tau), y, "circle", 5, colour="ink", tip=tip)


def _draw_pooled(drawing: Drawing, axis: _Axis, row: _Row, y: float) -> None:
    if math.isnan(row.tau):
        return
    if math.isnan(row.low):
        drawing.symbol(axis(row.tau), y, "circle", 5, colour="ink")
    else:
        drawing.lozenge(axis(row.low), axis(row.tau), axis(row.high), y, 8, colour="ink")


def _draw_numbers(
    drawing: Drawing,
    row: _Row,
    y: float,
    columns: dict[str, float],
    words: ForestWords,
    reasons: Mapping[str, str],
) -> None:
    drawing.text(columns["tau"], y, format_number(row.tau, 2), colour="ink", align="right",
                 bold=True)  # fmt: skip
    if math.isnan(row.tau):
        drawing.text(columns["interval"], y, reasons.get(row.reason, row.reason), colour="ink3")
        return
    drawing.text(columns["interval"], y, _interval(row, words), colour="ink3")
    drawing.text(columns["ceiling"], y, format_number(row.ceiling[0], 2), align="right")
    drawing.text(columns["n"], y, str(row.n), align="right")


def _interval(row: _Row, words: ForestWords) -> str:
    if math.isnan(row.low):
        return words.no_interval
    return words.to.format(low=format_number(row.low, 2), high=format_number(row.high, 2))


def _describe(rows: list[_Row], pooled: _Row, words: ForestWords) -> str:
    taus = [row.tau for row in rows if not math.isnan(row.tau)]
    if not taus:
        return words.description_empty
    return words.description.format(
        n=len(taus),
        highest=format_number(max(taus), 2),
        lowest=format_number(min(taus), 2),
        tau=format_number(pooled.tau, 2) if not math.isnan(pooled.tau) else DASH,
    )
