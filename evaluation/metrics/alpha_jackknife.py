"""Krippendorff's alpha of weighted units or annotators, such as of all but one.

Where annotators weigh differently, a unit's disagreement is the mean over its pairs of different
people, each as often as both count, and the unit weighs as many values as it then has.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Measurement = Literal["nominal", "ordinal", "interval", "ratio"]
Floats = NDArray[np.float64]
#: A jackknife leaves out one of so many at the most; of more, it leaves out blocks.
MOST_BLOCKS = 1000


def alpha_without_units(table: Floats, domain: Floats, measurement: Measurement) -> Floats:
    """Return alpha without each unit, or without each block of them, NaN without variation.

    table : (n_annotators, n_units), NaN = missing, two values or more in every unit
    domain : (n_domain,) the values that occur, in order
    """
    coincidences = _Coincidences(table, domain, measurement)
    return np.array([coincidences.alpha(kept) for kept in _without_blocks(table.shape[1])])


def alpha_without_annotators(table: Floats, domain: Floats, measurement: Measurement) -> Floats:
    """Return alpha without each annotator; arguments and result as of `alpha_without_units`."""
    return alpha_of_annotators(table, domain, measurement, _without_blocks(len(table)))


def _without_blocks(n: int) -> Floats:
    """Return which of `n` are kept, (n_blocks, n): all but one, or but a block where n is large."""
    n_blocks = min(n, MOST_BLOCKS)
    return (np.arange(n_blocks)[:, None] != np.arange(n) % n_blocks).astype(float)


def alpha_of_annotators(
    table: Floats, domain: Floats, measurement: Measurement, drawn: Floats
) -> Floats:
    """Return alpha of every resample, (n_resamples,), NaN without variation.

    drawn : (n_resamples, n_annotators) how often each annotator was drawn
    """
    units = []
    n_v, squares = np.zeros((len(drawn), domain.size)), np.zeros(len(drawn))
    for column in table.T:
        there = np.flatnonzero(~np.isnan(column))
        place = np.searchsorted(domain, column[there])
        times = drawn[:, there]
        values, same = times.sum(axis=1), (times**2).sum(axis=1)
        # Σ over pairs of different people of how often both were drawn, both orders.
        pairs = values**2 - same
        counted = pairs > 0
        n_v += (times * counted[:, None]) @ (place[:, None] == np.arange(domain.size))
        squares += same * counted
        per_pair = np.divide(values, pairs, out=np.zeros(len(drawn)), where=counted)
        units.append((there, place, per_pair))
    distances: _Ranks | _Fixed
    if measurement == "ordinal":
        distances = _Ranks(np.cumsum(n_v, axis=1) - n_v / 2)
    else:
        distances = _Fixed(_distances(domain, measurement))
    observed = np.zeros(len(drawn))
    for there, place, per_pair in units:
        observed += per_pair * distances.summed(drawn[:, there], place)
    n = n_v.sum(axis=1)
    # Of the n² pairs of values, those of a rating with its own copies do not count.
    varied = (n_v > 0).sum(axis=1) > 1
    per_value = np.divide(n**2 - squares, n, out=np.ones(len(drawn)), where=n > 0)
    expected = distances.summed(n_v, np.arange(domain.size)) / per_value
    ratio = np.divide(observed, expected, out=np.full(len(drawn), np.nan), where=varied)
    return 1 - ratio


class _Fixed:
    """Distances between values that are the same in every resample."""

    def __init__(self, distances: Floats) -> None:
        self._distances = distances

    def summed(self, times: Floats, place: NDArray[np.int_]) -> Floats:
        """Return Σᵢⱼ timesᵢ timesⱼ dᵢⱼ, (n_resamples,); the values are at `place` of the domain."""
        among = self._distances[np.ix_(place, place)]
        return np.einsum("ri,ri->r", times @ among, times)


class _Ranks:
    """Squared distances between ranks, which every resample has of its own."""

    def __init__(self, ranks: Floats) -> None:
        self._ranks = ranks - ranks.mean(axis=1, keepdims=True)

    def summed(self, times: Floats, place: NDArray[np.int_]) -> Floats:
        x = self._ranks[:, place]
        n, first = times.sum(axis=1), (times * x).sum(axis=1)
        return 2 * (n * (times * x**2).sum(axis=1) - first**2)


class _Coincidences:
    """Coincidences of every unit, to be weighed by how often the unit was drawn."""

    def __init__(self, table: Floats, domain: Floats, measurement: Measurement) -> None:
        there = ~np.isnan(table)
        m = there.sum(axis=0)
        place = np.searchsorted(domain, np.where(there, table, domain[0]))
        self._counts = np.zeros((table.shape[1], domain.size))
        units = np.broadcast_to(np.arange(table.shape[1]), table.shape)
        np.add.at(self._counts, (units[there], place[there]), 1.0)
        unit, first, second, weight = [], [], [], []
        for a in range(len(table)):
            for b in range(a + 1, len(table)):
                both = np.flatnonzero(there[a] & there[b])
                unit.append(both)
                first.append(place[a, both])
                second.append(place[b, both])
                # Each pair counts in both orders.
                weight.append(2.0 / (m[both] - 1))
        self._unit = np.concatenate(unit)
        self._first = np.minimum(np.concatenate(first), np.concatenate(second))
        self._second = np.maximum(np.concatenate(first), np.concatenate(second))
        self._weight = np.concatenate(weight)
        self._fixed = None if measurement == "ordinal" else _distances(domain, measurement)

    def alpha(self, drawn: Floats) -> float:
        """Return alpha of the units, each as often as it counts; NaN without variation."""
        n_v = drawn @ self._counts
        distances = _ordinal_distances(n_v) if self._fixed is None else self._fixed
        # The distance of a value to itself is 0, so that no value needs taking out of D_e.
        expected = n_v @ distances @ n_v / (n_v.sum() - 1)
        if expected <= 0:
            return np.nan
        apart = distances[self._first, self._second]
        return float(1 - (drawn[self._unit] * self._weight) @ apart / expected)


def _distances(domain: Floats, measurement: Measurement) -> Floats:
    a, b = domain[:, None], domain[None, :]
    if measurement == "nominal":
        return (a != b).astype(float)
    if measurement == "interval":
        return (a - b) ** 2
    total = a + b
    return np.divide(a - b, total, out=np.zeros_like(total), where=total != 0) ** 2


def _ordinal_distances(n_v: Floats) -> Floats:
    """Return (Σ_{g=c..k} n_g − (n_c + n_k)/2)² for values in order: ranks between, squared."""
    middle = np.cumsum(n_v) - n_v / 2
    return (middle[:, None] - middle[None, :]) ** 2
