"""Agreement of every pair of annotators as a matrix: alpha, and on how many texts it rests."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluation.charts.canvas import SMALL, Drawing
from evaluation.charts.text_metrics import format_number, widest

CELL_WIDTH, CELL_HEIGHT, GAP = 84, 46, 2
HEAD = 30
# A small matrix is not blown up to the width of a page.
LEAST_WIDTH = 900
# From this step outwards a cell is so dark that its text takes the color of the surface.
DARK_STEPS = 3


@dataclass(frozen=True)
class MatrixCell:
    """Alpha of a pair, NaN where undefined, and the texts that both annotated."""

    value: float
    n: int


def agreement_matrix_spec(
    names: Sequence[str], cells: Mapping[tuple[int, int], MatrixCell]
) -> dict[str, Any]:
    """Return the Vega-Lite specification of the lower triangle.

    names : annotators, as they are written
    cells : (row, column) with row > column → what the pair has; absent = no text in common
    """
    if len(names) < 2:
        raise ValueError(f"a matrix needs two annotators or more, got {len(names)}")
    left = widest(names, 12.5) + 14
    drawing = Drawing()
    for row in range(1, len(names)):
        y = HEAD + (row - 1) * (CELL_HEIGHT + GAP)
        drawing.text(left - 10, y + CELL_HEIGHT / 2, names[row], color="ink", align="right")
        for column in range(row):
            x = left + column * (CELL_WIDTH + GAP)
            cell = cells.get((row, column), MatrixCell(math.nan, 0))
            _draw_cell(drawing, x, y, cell, (names[row], names[column]))
    for column in range(len(names) - 1):
        x = left + column * (CELL_WIDTH + GAP) + CELL_WIDTH / 2
        # A head stands right above the first cell of its column.
        y = HEAD + column * (CELL_HEIGHT + GAP) - 12
        drawing.text(x, y, names[column], color="ink", align="center", size=SMALL)
    bottom = HEAD + (len(names) - 1) * (CELL_HEIGHT + GAP)
    drawing.text(
        left, bottom + 16, "α, 0 is chance and 1 complete agreement", color="ink3", size=SMALL
    )
    known = [cell.value for cell in cells.values() if not math.isnan(cell.value)]
    return drawing.specification(
        max(left + (len(names) - 1) * (CELL_WIDTH + GAP), LEAST_WIDTH),
        bottom + 28,
        title="Agreement of every pair of annotators",
        description=f"{len(known)} pairs of annotators; alpha from {format_number(min(known), 2)} "
        f"to {format_number(max(known), 2)}."
        if known
        else "No pair of annotators has an alpha.",
    )


def _draw_cell(
    drawing: Drawing, x: float, y: float, cell: MatrixCell, names: tuple[str, str]
) -> None:
    value = format_number(cell.value, 2)
    tip = f"{names[0]} and {names[1]}: α = {value}, {cell.n} texts in common"
    size = (CELL_WIDTH, CELL_HEIGHT)
    dark = drawing.value_cell(
        (x, y), size, cell.value, center=0.0, limit=1.0, tip=tip, dark_from=DARK_STEPS
    )
    ink, quiet = ("surface", "surface") if dark else ("ink", "ink2")
    middle = x + CELL_WIDTH / 2
    drawing.text(middle, y + 17, value, color=ink, align="center", bold=True)
    drawing.text(middle, y + 34, f"n = {cell.n}", color=quiet, align="center", size=SMALL)
