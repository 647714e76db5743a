"""Colours of the score table: eleven steps round zero, clipped where the look says so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from probing.admin.wording import signed
from probing.runs.score_table import ScoreColumn, ScoreTable

STEPS = 5
LIMIT_PERCENTILE = 98


@dataclass(frozen=True)
class HeatCell:
    """A score as text with the class of its colour, or a dash with the reason."""

    text: str
    step: str
    reason: str


@dataclass(frozen=True)
class HeatRow:
    name: str
    cells: tuple[HeatCell, ...]


@dataclass(frozen=True)
class DimensionHead:
    """How many neighbouring columns belong to one dimension."""

    name: str
    span: int


@dataclass(frozen=True)
class Heat:
    """The table, its colour limit (None without any score) and how many cells have no score."""

    columns: tuple[ScoreColumn, ...]
    dimensions: tuple[DimensionHead, ...]
    rows: tuple[HeatRow, ...]
    limit: str | None
    missing: int


def heat(table: ScoreTable) -> Heat:
    """Return ``table`` with colours: symmetric, limit at the 98th percentile of |score|."""
    values = [cell.value for row in table.rows for cell in row.cells if cell.value is not None]
    limit = float(np.percentile(np.abs(values), LIMIT_PERCENTILE)) if values else 0.0
    return Heat(
        columns=table.columns,
        dimensions=tuple(_dimensions(table.columns)),
        rows=tuple(
            HeatRow(
                row.name,
                tuple(_cell(cell.value, cell.reason, limit) for cell in row.cells),
            )
            for row in table.rows
        ),
        limit=f"{limit:.2f}" if values else None,
        missing=sum(cell.value is None for row in table.rows for cell in row.cells),
    )


def _cell(value: float | None, reason: str, limit: float) -> HeatCell:
    if value is None:
        return HeatCell("–", "none", reason)
    share = min(1.0, abs(value) / limit) if limit else 0.0
    step = round(share * STEPS)
    side = "high" if value > 0 else "low"
    return HeatCell(signed(value), f"{side}-{step}" if step else "centre", "")


def _dimensions(columns: tuple[ScoreColumn, ...]) -> list[DimensionHead]:
    heads: list[DimensionHead] = []
    for column in columns:
        if heads and heads[-1].name == column.dimension:
            heads[-1] = DimensionHead(column.dimension, heads[-1].span + 1)
        else:
            heads.append(DimensionHead(column.dimension, 1))
    return heads
