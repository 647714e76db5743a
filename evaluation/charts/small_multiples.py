"""Every group in small beside the others: people and model on all scales, for paper."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from annotation.common.lazy import pd
from evaluation.charts.canvas import Drawing
from evaluation.charts.text_metrics import (
    GroupLabel,
    ScaleLabel,
    arrange,
    fit,
    format_number,
    records_by,
    round_up,
    widest,
)

ACROSS = 3
PANEL, PANEL_GAP = 158, 18
ROW = 13
HEAD = 40
SIZE = 11.0
HUMAN_CENTER = HUMAN_LIMIT = 50.0
ABOVE, BELOW = 2.2, 2.6


def small_multiples_specs(
    cells: pd.DataFrame,
    groups_table: pd.DataFrame,
    *,
    groups: Sequence[GroupLabel],
    scales: Sequence[ScaleLabel],
) -> Iterator[dict[str, Any]]:
    """Yield one Vega-Lite specification for every three groups, all on the same two axes.

    cells, groups_table : the tables cells and groups of the alignment (`reports.alignment_tables`)

    People's axis runs from 0 to 100, the model's is symmetric round 0; both share the center line,
    as in `group_profile`. A group without a τ has a dash.
    """
    scales = [scales[i] for i in arrange([scale.dimension for scale in scales])]
    by_cell = records_by(cells, "group", "scale")
    taus = {slug: float(row["tau"]) for slug, row in records_by(groups_table, "group").items()}
    sizes = cells[["model_mean", "model_low", "model_high"]].abs().max().dropna()
    limit = round_up(float(sizes.max()) if len(sizes) else 0.0)
    left = 1.08 * widest([scale.low for scale in scales], SIZE) + 16
    right = widest([scale.high for scale in scales], SIZE) + 12
    bottom = HEAD + ROW * len(scales)
    for first in range(0, len(groups), ACROSS):
        some = groups[first : first + ACROSS]
        drawing = Drawing()
        for place, group in enumerate(some):
            start = left + place * (PANEL + PANEL_GAP)
            _draw_panel(drawing, group, start, bottom, taus.get(group.slug, math.nan))
            for row, scale in enumerate(scales):
                values = by_cell.get((group.slug, scale.slug))
                if values is not None:
                    _draw_row(drawing, values, start, HEAD + ROW * (row + 0.5), limit)
        end = left + len(some) * (PANEL + PANEL_GAP) - PANEL_GAP + 12
        for row, scale in enumerate(scales):
            y = HEAD + ROW * (row + 0.5)
            drawing.text(left - 12, y, scale.low, color="ink", align="right", size=SIZE)
            drawing.text(end, y, scale.high, color="ink", size=SIZE)
        yield drawing.specification(
            left + ACROSS * (PANEL + PANEL_GAP) + right,
            bottom + 6,
            title="People’s mean ratings and the model’s scores, group by group",
            description="; ".join(
                f"{group.text}: τ = {format_number(taus.get(group.slug, math.nan), 2)}"
                for group in some
            ),
        )


def _draw_panel(
    drawing: Drawing, group: GroupLabel, start: float, bottom: float, tau: float
) -> None:
    told = f"τ {format_number(tau, 2)}"
    name = fit(group.text, PANEL - widest([told], SIZE) - 8, SIZE + 1)
    drawing.text(start, 12, name, color="ink", bold=True, size=SIZE + 1)
    drawing.text(start + PANEL, 12, told, align="right", size=SIZE)
    for part in range(5):
        x = start + PANEL * part / 4
        color = "ink" if part == 2 else "line"
        drawing.line((x, HEAD - 8), (x, bottom), color=color, grid=True)


def _draw_row(
    drawing: Drawing, values: dict[str, Any], start: float, middle: float, limit: float
) -> None:
    for column, shape, radius, shift, center, reach in (
        ("human", "circle", 2.8, -ABOVE, HUMAN_CENTER, HUMAN_LIMIT),
        ("model", "diamond", 3.4, BELOW, 0.0, limit),
    ):
        value, low, high = (
            start + PANEL * (1 + (float(values[f"{column}_{part}"]) - center) / reach) / 2
            for part in ("mean", "low", "high")
        )
        if math.isnan(value):
            continue
        y = middle + shift
        if not math.isnan(low):
            drawing.line((low, y), (high, y), color=column, width=1.1)
        drawing.symbol(value, y, shape, radius, color=column)
