"""A grid of values round a centre: rows by columns, every value printed in its coloured cell."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.charts.drawing import Drawing
from evaluation.charts.lettering import DASH, arrange, format_number, text_width, widest
from evaluation.charts.palette import CENTRE_STEP, DIVERGING, diverging_step

LEAST_CELL, WIDEST_CELL, CELL_HEIGHT, GAP = 62, 124, 21, 1
ROW_GAP, COLUMN_GAP = 7, 10
# A small grid is not blown up to the width of a page.
LEAST_WIDTH = 900
SMALL = 12.0
SWATCH = 17
# From this step outwards a cell is so dark that its text takes the colour of the surface.
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
    """Every text of the chart; {…} is filled in."""

    title: str
    scale: str
    description: str = "{rows} rows and {columns} columns; values from {lowest} to {highest}."
    description_empty: str = "No cell has a value."
    missing: str = "Outlined cells have no value"
    tip: str = "{row}, {column}: {value}"


def value_grid_spec(
    rows: Sequence[GridLabel],
    columns: Sequence[GridLabel],
    cells: Mapping[tuple[str, str], GridCell],
    *,
    words: GridWords,
    limit: float,
    centre: float = 0.0,
    decimals: int = 2,
) -> dict[str, Any]:
    """Return the Vega-Lite specification.

    cells : (row, column) → what stands there; absent = no value
    limit : distance from the centre at which the colours are clipped, above 0

    Values are rounded for print alone; colours follow the values themselves.
    """
    if not rows or not columns:
        raise ValueError("a grid needs at least one row and one column")
    rows = [rows[i] for i in arrange([row.block for row in rows])]
    columns = [columns[i] for i in arrange([column.block for column in columns])]
    left = widest([row.text for row in rows], SMALL) + 14
    heads = [_short(column.text) for column in columns]
    top = 34 + widest(heads, SMALL) + 12
    drawing = Drawing()
    fitting = (LEAST_WIDTH - left) // len(columns) - COLUMN_GAP
    cell_width = max(LEAST_CELL, min(fitting, WIDEST_CELL))
    places = _places([column.block for column in columns], cell_width + GAP, COLUMN_GAP)
    heights = _places([row.block for row in rows], CELL_HEIGHT + GAP, ROW_GAP)
    _draw_scale(drawing, left, words.scale, limit, centre)
    for head, x in zip(heads, places, strict=True):
        drawing.text(left + x + cell_width / 2, top - 8, head, colour="ink", size=SMALL,
                     upright=True)  # fmt: skip
    missing = False
    for row, y in zip(rows, heights, strict=True):
        drawing.text(left - 10, top + y + CELL_HEIGHT / 2, row.text, colour="ink",
                     align="right", size=SMALL)  # fmt: skip
        for column, x in zip(columns, places, strict=True):
            cell = cells.get((row.key, column.key), GridCell(math.nan))
            missing |= math.isnan(cell.value)
            tip = words.tip.format(
                row=row.text, column=column.text, value=_value(cell, decimals)
            ) + (f"; {cell.tip}" if cell.tip else "")
            corner = (left + x, top + y, cell_width)
            _draw_cell(drawing, corner, cell, tip, limit, centre, decimals)
    bottom = top + heights[-1] + CELL_HEIGHT
    if missing:
        drawing.text(left, bottom + 16, words.missing, colour="ink3", size=SMALL)
        bottom += 24
    known = [cell.value for cell in cells.values() if not math.isnan(cell.value)]
    return drawing.specification(
        max(left + places[-1] + cell_width, LEAST_WIDTH),
        bottom + 4,
        title=words.title,
        description=words.description.format(
            rows=len(rows),
            columns=len(columns),
            lowest=format_number(min(known), decimals),
            highest=format_number(max(known), decimals),
        )
        if known
        else words.description_empty,
    )


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_HEAD else f"{text[: LONGEST_HEAD - 1]}…"


def _places(blocks: Sequence[str], step: float, gap: float) -> list[float]:
    """Return where every row or column starts, with a gap between blocks."""
    found, at = [], 0.0
    for i, block in enumerate(blocks):
        at += gap if i and block != blocks[i - 1] else 0.0
        found.append(at)
        at += step
    return found


def _draw_scale(drawing: Drawing, left: float, text: str, limit: float, centre: float) -> None:
    drawing.text(left, 8, text, colour="ink", bold=True, size=13)
    start = left + text_width(text, 13) * 1.08 + 24
    for step, colour in enumerate(DIVERGING):
        drawing.box(start + SWATCH * step, 2, SWATCH - 1, 12, colour=colour)
    end = start + SWATCH * len(DIVERGING) - 1
    for x, value, align in (
        (start, centre - limit, "left"),
        ((start + end) / 2, centre, "center"),
        (end, centre + limit, "right"),
    ):
        drawing.text(x, 23, format_number(value, 1), colour="ink3", align=align, size=SMALL)


def _draw_cell(
    drawing: Drawing,
    corner: tuple[float, float, float],
    cell: GridCell,
    tip: str,
    limit: float,
    centre: float,
    decimals: int,
) -> None:
    """Draw one cell from its upper left corner and width."""
    x, y, width = corner
    if math.isnan(cell.value):
        drawing.box(x, y, width, CELL_HEIGHT, colour="line", outline=True, tip=tip)
        return
    step = diverging_step(cell.value, centre=centre, limit=limit)
    drawing.box(x, y, width, CELL_HEIGHT, colour=DIVERGING[step], tip=tip)
    dark = abs(step - CENTRE_STEP) >= DARK_STEPS
    drawing.text(x + width / 2, y + CELL_HEIGHT / 2, _value(cell, decimals),
                 colour="surface" if dark else "ink", align="center", size=SMALL)  # fmt: skip


def _value(cell: GridCell, decimals: int) -> str:
    if math.isnan(cell.value):
        return DASH
    return format_number(cell.value, decimals) + cell.sign
