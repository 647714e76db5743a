"""Columns that are filled by fields of a row, by the path of the field."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from annotation.common.tables import Cell, Column

#: The path of each field, as `values_list` takes it, with its column.
Fields = Mapping[str, Column]


def coarsen(cell: Any) -> Cell:
    """Return a time as its day: the hour of work says more about a person than a result needs."""
    return f"{cell:%Y-%m-%d}" if isinstance(cell, datetime) else cell
