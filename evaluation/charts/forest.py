"""Agreement of every group as a forest: tau, its interval, halves of the raters, all pooled."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotation.common.lazy import pd
from evaluation.charts.axis import Axis
from evaluation.charts.canvas import Drawing
from evaluation.charts.text_metrics import GroupLabel, format_number, records_by, text_width, widest

LABELS = 162
PLOT = 514
ROW = 25
FIRST_ROW = 81
TICK = 0.2


@dataclass(frozen=True)
class _Row:
    name: str
    tau: float
    low: float
    high: float
    ceiling: tuple[float, float, float]  # mean, low, high
    n: int
    reason: str
    is_pooled: bool = False

    @property
    def interval(self) -> str:
        if math.isnan(self.low):
            return "no interval"
        return f"{format_number(self.low, 2)} to {format_number(self.high, 2)}"


def forest_spec(
    groups_table: pd.DataFrame,
    overall: pd.DataFrame,
    *,
    groups: Sequence[GroupLabel],
    reasons: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the Vega-Lite specification of the forest.

    groups_table, overall : the tables groups and overall (`reports.alignment_tables`)
    groups : how the groups are written; those without a row in the table are not drawn
    reasons : translations of the reasons for missing values; by default as in the table

    Highest tau first; groups without a tau are last with the reason in their row.
    """
    table = records_by(groups_table, "group")
    rows = [_read_row(label, table[label.slug]) for label in groups if label.slug in table]
    rows.sort(key=lambda row: -math.inf if math.isnan(row.tau) else row.tau, reverse=True)
    whole = records_by(overall, "quantity")
    pooled = _read_pooled(whole)
    every = [*rows, pooled]
    level, share = (
        f"{100 * float(whole[name]['level']):g} %" for name in ("tau_pooled", "ceiling_pooled")
    )
    left = max(LABELS, widest([row.name for row in every], 12.5) + 8)
    values = [v for row in every for v in (row.tau, row.low, row.high, *row.ceiling)]
    axis = Axis(left + 14, [*values, TICK], reference=0.0, width=PLOT, tick=TICK, steps=4)
    tau_at, interval_at, ceiling_at, n_at = (axis.right + room for room in (46, 78, 266, 346))
    rule = FIRST_ROW + ROW * len(rows) - 3
    bottom = rule + 39

    drawing = Drawing()
    _draw_legend(drawing, f"τ with its {level} interval", share)
    for x, head, align in (
        (left, "Group", "right"),
        (tau_at, "τ", "right"),
        (interval_at, f"{level} interval", "left"),
        (ceiling_at, "halves", "right"),
        (n_at, "n", "right"),
    ):
        drawing.text(x, FIRST_ROW - 28, head, color="ink3", align=align)
    axis.draw_grid(drawing, FIRST_ROW - 15, bottom)
    for i, row in enumerate(every):
        drawing.key = "" if row.is_pooled else row.name
        y = rule + 21 if row.is_pooled else FIRST_ROW + ROW * i
        _draw_row(drawing, axis, row, y)
        drawing.text(left, y, row.name, color="ink", align="right", bold=row.is_pooled)
        drawing.text(tau_at, y, format_number(row.tau, 2), color="ink", align="right", bold=True)
        if math.isnan(row.tau):
            reason = (reasons or {}).get(row.reason, row.reason)
            drawing.text(interval_at, y, reason, color="ink3")
            continue
        drawing.text(interval_at, y, row.interval, color="ink3")
        drawing.text(ceiling_at, y, format_number(row.ceiling[0], 2), align="right")
        drawing.text(n_at, y, str(row.n), align="right")
    drawing.key = ""
    drawing.line((0, rule), (n_at + 4, rule), color="control")
    about = "Kendall’s τ between the model’s scores and the means of people’s ratings"
    height = axis.draw(drawing, about, bottom, decimals=2)
    return drawing.specification(
        n_at + 4,
        height,
        title="Kendall’s τ between the model’s scores and people’s means, by group",
        description=_describe([row.tau for row in rows], pooled),
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


def _read_pooled(overall: dict[str, dict[str, Any]]) -> _Row:
    tau, ceiling = overall["tau_pooled"], overall["ceiling_pooled"]
    return _Row(
        name=f"all {int(tau['n'])} cells pooled",
        tau=float(tau["value"]),
        low=float(tau["low"]),
        high=float(tau["high"]),
        ceiling=(float(ceiling["value"]), float(ceiling["low"]), float(ceiling["high"])),
        n=int(overall["annotations"]["value"]),
        reason=str(tau["reason"]),
        is_pooled=True,
    )


def _draw_legend(drawing: Drawing, tau: str, share: str) -> None:
    drawing.line((0, 10), (34, 10), color="ink", width=1.75)
    drawing.symbol(17, 10, "circle", 5, color="ink")
    drawing.text(42, 10, tau, size=13)
    x = 42 + text_width(tau, 13) + 26
    drawing.box(x, 2, 34, 16, color="band")
    drawing.line((x + 17, 2), (x + 17, 18), color="ink2", width=1.25, dash=(2, 2))
    ceiling = f"Halves of the raters: mean and middle {share} of splits"
    drawing.text(x + 42, 10, ceiling, size=13)


def _draw_row(drawing: Drawing, axis: Axis, row: _Row, y: float) -> None:
    """Draw the band of the halves, and tau on it: a lozenge for all cells, a circle for a group."""
    mean, low, high = row.ceiling
    if not math.isnan(mean):
        drawing.box(axis(low), y - 8, max(axis(high) - axis(low), 1.0), 16, color="band")
        start, end = (axis(mean), y - 8), (axis(mean), y + 8)
        drawing.line(start, end, color="ink2", width=1.25, dash=(2, 2))
    if math.isnan(row.tau):
        return
    has_interval = not math.isnan(row.low)
    if row.is_pooled and has_interval:
        drawing.lozenge(axis(row.low), axis(row.tau), axis(row.high), y, 8, color="ink")
        return
    if has_interval:
        drawing.line((axis(row.low), y), (axis(row.high), y), color="ink", width=1.75)
    tip = f"{row.name}: τ = {format_number(row.tau, 2)}, {row.interval}, n = {row.n}"
    drawing.symbol(axis(row.tau), y, "circle", 5, color="ink", tip=tip)


def _describe(taus: list[float], pooled: _Row) -> str:
    known = [tau for tau in taus if not math.isnan(tau)]
    if not known:
        return "No group has a τ."
    high, low = (format_number(end(known), 2) for end in (max, min))
    groups = (
        f"One group, τ = {high}"
        if len(known) == 1
        else f"{len(known)} groups in order of τ, from {high} to {low}"
    )
    return f"{groups}. All cells pooled: τ = {format_number(pooled.tau, 2)}."
