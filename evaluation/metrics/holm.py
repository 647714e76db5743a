"""Holm's correction of p-values for several tests."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, TypeVar

from annotation.common.holm import holm_correction

Row = TypeVar("Row")


def correct_rows(
    rows: Sequence[Row], family: Callable[[Row], Hashable] = lambda row: None, **p_values: str
) -> list[Row]:
    """Return dataclasses with p-values corrected over the rows of their family.

    family : rows for which it is the same are corrected together, by default all
    p_values : field that is filled → where the p-value stands, such as ``p_holm="test.p_value"``
    """
    found: list[Any] = list(rows)
    for name in dict.fromkeys(map(family, rows)):
        places = [place for place, row in enumerate(rows) if family(row) == name]
        for field, path in p_values.items():
            corrected = holm_correction([attrgetter(path)(rows[place]) for place in places])
            for place, p in zip(places, corrected, strict=True):
                found[place] = replace(found[place], **{field: float(p)})
    return found
