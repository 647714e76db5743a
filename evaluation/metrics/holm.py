"""Holm's correction of p-values for several tests."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Row = TypeVar("Row")


def holm_correction(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return p-values corrected by Holm's step-down method.

    p_values : (n,), 0 to 1, NaN = no test was made; it stays NaN and does not count

    With the m p-values in ascending order, the i-th (from 0) becomes the largest of
    (m − j) p_j over j ≤ i, at most 1. Holm (1979), Scandinavian Journal of Statistics 6, 65–70.
    Raises ValueError outside 0 to 1.
    """
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1:
        raise ValueError(f"a list of p-values is needed, got shape {p.shape}")
    tested = ~np.isnan(p)
    if ((p[tested] < 0) | (p[tested] > 1)).any():
        raise ValueError("p-values lie between 0 and 1")
    corrected = np.full(p.shape, np.nan)
    m = int(tested.sum())
    order = np.argsort(p[tested], kind="stable")
    steps = np.maximum.accumulate((m - np.arange(m)) * p[tested][order])
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(steps, 1.0)
    corrected[tested] = adjusted
    return corrected


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
