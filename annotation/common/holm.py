"""Holm's correction of p-values for several tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from annotation.common.lazy import np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


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
