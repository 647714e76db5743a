"""Krippendorff's alpha from the counts of values in each unit, whole and with parts left out.

In a unit with counts c and m values, Σ c_i c_j d_ij / (m − 1) is its observed disagreement; of the
counts of all units taken together it is the expected one (Krippendorff 2019, ch. 12). Both have a
closed form for every level but ratio, so that pairs of people are never listed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import sparse

Measurement = Literal["nominal", "ordinal", "interval", "ratio"]
Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Within = Callable[[Any], Floats]
#: A jackknife leaves out one of so many at the most; of more, it leaves out blocks.
MOST_BLOCKS = 1000
#: Counts of more units by values are kept sparse, for values that hardly ever come twice.
MOST_CELLS = 1_000_000


@dataclass(frozen=True)
class CountedValues:
    """All values, each with its annotator, its unit, and its place in the domain.

    counts : (n_units, n_domain), sparse if it is large
    domain : (n_domain,) the values that occur, in order
    """

    annotators: Places
    units: Places
    places: Places
    counts: Any
    domain: Floats
    measurement: Measurement

    @classmethod
    def of(cls, table: Floats, domain: Floats, measurement: Measurement) -> CountedValues:
        """Count a table, (n_annotators, n_units), NaN = missing, with two values in every unit."""
        annotators, units = np.nonzero(~np.isnan(table))
        places = np.searchsorted(domain, table[annotators, units])
        counts = _count(units, places, (table.shape[1], domain.size))
        return cls(annotators, units, places, counts, domain, measurement)

    @property
    def units_in_use(self) -> int:
        """How many units somebody put outside the commonest class; all units on a scale."""
        if self.measurement != "nominal":
            return int(self.counts.shape[0])
        commonest = int(np.argmax(self.counts.sum(axis=0)))
        return int(np.unique(self.units[self.places != commonest]).size)

    def alpha(self) -> float:
        """Return alpha, NaN without variation."""
        n_v = self.counts.sum(axis=0)
        within = _within(self.measurement, self.domain, n_v)
        return _alpha(within(self.counts).sum(), n_v, within)

    def without_units(self) -> Floats:
        """Return alpha without each unit, or without each block of them, NaN without variation."""
        return self._without_blocks(self.units)

    def without_annotators(self) -> Floats:
        """Return alpha without each annotator, likewise; a unit that keeps one value goes too."""
        return self._without_blocks(self.annotators)

    def _without_blocks(self, members: Places) -> Floats:
        members = np.unique(members, return_inverse=True)[1]  # without who has no value
        n_blocks = min(int(members.max()) + 1, MOST_BLOCKS)
        order = np.argsort(members % n_blocks, kind="stable")
        ends = np.cumsum(np.bincount(members % n_blocks, minlength=n_blocks))
        whole = self.counts.sum(axis=0)
        within = _within(self.measurement, self.domain, whole)
        observed = within(self.counts).sum()
        found = []
        for block in np.split(order, ends[:-1]):
            units, rows = np.unique(self.units[block], return_inverse=True)
            before = self.counts[units]
            after = before - _count(rows, self.places[block], before.shape)
            after = after * (after.sum(axis=1)[:, None] > 1)
            n_v = whole + after.sum(axis=0) - before.sum(axis=0)
            if self.measurement == "ordinal":  # ranks depend on all values that are left
                within = _within(self.measurement, self.domain, n_v)
                observed = within(self.counts).sum()
            left = observed + within(after).sum() - within(before).sum()
            found.append(_alpha(left, n_v, within))
        return np.array(found)


def _alpha(observed: float, n_v: Floats, within: Within) -> float:
    """Return 1 − D_o / D_e; D_e is the disagreement of all values taken as one unit."""
    if np.count_nonzero(n_v) < 2:
        return np.nan
    return float(1 - observed / within(n_v[None])[0])


def _within(measurement: Measurement, domain: Floats, n_v: Floats) -> Within:
    """Return what gives Σ c_i c_j d_ij / (m − 1) of each row of counts, 0 where m < 2.

    Squared distances between points x sum to 2 (m Σ c x² − (Σ c x)²).
    """
    points = domain
    if measurement == "ordinal":
        points = np.cumsum(n_v) - n_v / 2  # ranks; Σ_{g=c..k} n_g − (n_c + n_k)/2 lies between two
    points = points - points @ n_v / max(n_v.sum(), 1)  # smaller sums lose fewer digits
    ratio = _ratio_distances(domain) if measurement == "ratio" else None

    def summed(rows: Any) -> Floats:
        m = rows.sum(axis=1)
        if measurement == "nominal":
            pairs = m**2 - (rows * rows).sum(axis=1)
        elif measurement == "ratio":
            pairs = (rows * (rows @ ratio)).sum(axis=1)
        else:
            pairs = 2 * (m * (rows @ points**2) - (rows @ points) ** 2)
        return np.divide(pairs, m - 1, out=np.zeros_like(m), where=m > 1)

    return summed


def _ratio_distances(domain: Floats) -> Floats:
    total, apart = domain[:, None] + domain, domain[:, None] - domain
    return np.divide(apart, total, out=np.zeros_like(total), where=total != 0) ** 2


def _count(rows: Places, columns: Places, shape: tuple[int, int]) -> Any:
    """Return how often each pair of places occurs, (n_rows, n_columns); sparse if it is large."""
    if prod(shape) > MOST_CELLS:
        return sparse.csr_array((np.ones(rows.size), (rows, columns)), shape)
    counts = np.bincount(rows * shape[1] + columns, minlength=prod(shape))
    return counts.reshape(shape).astype(float)
