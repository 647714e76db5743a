"""A grid of values round a center: rows by columns, every value printed in its colored cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.charts.canvas import SMALL, Drawing
from evaluation.charts.text_metrics import (
    DASH,
    arrange,
    format_number,
    shorten,
    starts,
    text_width,
    widest,
)

LEAST_CELL, WIDEST_CELL, CELL_HEIGHT, GAP = 62, 124, 21, 1
ROW_GAP, COLUMN_GAP = 7, 10
# A small grid is not blown up to the width of a page.
LEAST_WIDTH = 900
# From this step outwards a cell is so dark that its text takes the color of the surface.
DARK_STEPS = 4
LONGEST_HEAD = 40


@dataclass(frozen=True)
class GridLabel:
    """A row or column; those of one ``block`` stand together with a gap before the next."""

    key: str
    text: str
    block: str = ""


@dataclass(frozen=True)
class GridCell:
    """A value, NaN where there is none; ``sign`` is printed after it, ``tip`` is told besides."""

    value: float
    sign: str = ""
    tip: str = ""


@dataclass(frozen=True)
class GridWords:
    """What the chart is about, and what its colors mean."""

    title: str
    scale: str
    missing: str = "Outlined cells have no value"


def value_grid_spec(
    rows: Sequence[GridLabel],
    columns: Sequence[GridLabel],
    cells: Mapping[tuple[str, str], GridCell],
    *,
    words: GridWords,
    limit: float,
    center: float = 0.0,
    decimals: int = 2,
) -> dict[str, Any]:
    """Return the Vega-Lite specification.

    cells : (row, column) → what stands there; absent = no value
    limit : distance from the center at which the colors are clipped, above 0

    Values are rounded for print alone; colors follow the values themselves.
    """
    if not rows or not columns:
        raise ValueError("a grid needs at least one row and one column")
    rows = [rows[i] for i in arrange([row.block for row in rows])]
    columns = [columns[i] for i in arrange([column.block for column in columns])]
    left = widest([row.text for row in rows], SMALL) + 14
    heads = [shorten(column.text, LONGEST_HEAD) for column in columns]
    top = 34 + widest(heads, SMALL) + 12
    fitting = (LEAST_WIDTH - left) // len(columns) - COLUMN_GAP
    width = max(LEAST_CELL, min(fitting, WIDEST_CELL))
    across = starts([column.block for column in columns], width + GAP, COLUMN_GAP)
    down = starts([row.block for row in rows], CELL_HEIGHT + GAP, ROW_GAP)

    drawing = Drawing()
    drawing.text(left, 8, words.scale, color="ink", bold=True, size=13)
    low, middle, high = (format_number(v, 1) for v in (center - limit, center, center + limit))
    drawing.color_scale(left + text_width(words.scale, 13) * 1.08 + 24, 2, (low, middle, high))
    for head, x in zip(heads, across, strict=True):
        at = left + x + width / 2
        drawing.text(at, top - 8, head, color="ink", size=SMALL, upright=True)
    missing = False
    for row, y in zip(rows, down, strict=True):
        at = top + y + CELL_HEIGHT / 2
        drawing.key = row.text
        drawing.text(left - 10, at, row.text, color="ink", align="right", size=SMALL)
        for column, x in zip(columns, across, strict=True):
            cell = cells.get((row.key, column.key), GridCell(math.nan))
            empty = math.isnan(cell.value)
            text = DASH if empty else format_number(cell.value, decimals) + cell.sign
            tip = f"{row.text}, {column.text}: {text}" + (f"; {cell.tip}" if cell.tip else "")
            dark = drawing.value_cell(
                (left + x, top + y),
                (width, CELL_HEIGHT),
                cell.value,
                center=center,
                limit=limit,
                tip=tip,
                dark_from=DARK_STEPS,
            )
            missing |= empty
            if not empty:
                ink = "surface" if dark else "ink"
                drawing.text(left + x + width / 2, at, text, color=ink, align="center",
                             size=SMALL)  # fmt: skip
    drawing.key = ""
    bottom = top + down[-1] + CELL_HEIGHT
    if missing:
        drawing.text(left, bottom + 16, words.missing, color="ink3", size=SMALL)
        bottom += 24
    known = [cell.value for cell in cells.values() if not math.isnan(cell.value)]
    return drawing.specification(
        max(left + across[-1] + width, LEAST_WIDTH),
        bottom + 4,
        title=words.title,
        description=f"{len(rows)} rows and {len(columns)} columns; values from "
        f"{format_number(min(known), decimals)} to {format_number(max(known), decimals)}."
        if known
        else "No cell has a value.",
    )
