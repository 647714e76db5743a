"""Sums of Levenshtein distances per annotated item, from which alpha and its resamples follow."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.text_distance import Distance, EncodedTexts

Expected = Literal["exact", "shuffle", "krippendorff"]
EXPECTED: tuple[Expected, ...] = ("exact", "shuffle", "krippendorff")


class Annotations:
    """Annotations as numbers: item, annotator and different text of each.

    first, second : (n_pairs,) annotations of the same item; apart : (n_pairs,) their distance
    """

    def __init__(
        self,
        items: Sequence[Hashable],
        annotators: Sequence[Hashable],
        texts: Sequence[str],
        distance: Distance,
    ) -> None:
        if not len(items) == len(annotators) == len(texts):
            raise ValueError(
                "every annotation needs item, annotator and text, got "
                f"{len(items)}, {len(annotators)} and {len(texts)}"
            )
        if len(set(zip(items, annotators, strict=True))) < len(items):
            raise ValueError("somebody annotated an item twice; keep one of the two")
        self.distance = distance
        self.item, self.n_items = _number(items)
        self.annotator, self.n_annotators = _number(annotators)
        self.text, _ = _number(texts)
        self.encoded = EncodedTexts(list(dict.fromkeys(texts)), distance)
        together: list[list[int]] = [[] for _ in range(self.n_items)]
        for annotation, item in enumerate(self.item.tolist()):
            together[item].append(annotation)
        pairs = [pair for members in together for pair in combinations(members, 2)]
        self.first, self.second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self.apart = self.encoded.between(self.text[self.first], self.text[self.second])

    def count(self, subset: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return how many annotations of the subset every item has."""
        return np.bincount(self.item[subset], minlength=self.n_items)

    def inside(self, subset: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which pairs of annotations of one item lie in the subset."""
        return subset[self.first] & subset[self.second]

    def common_items(
        self, subset: NDArray[np.bool_]
    ) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return for every pair of annotators both annotations of each of their common items."""
        inside = self.inside(subset)
        first, second = self.first[inside], self.second[inside]
        swapped = self.annotator[first] > self.annotator[second]
        first, second = np.where(swapped, second, first), np.where(swapped, first, second)
        pair = self.annotator[first] * self.n_annotators + self.annotator[second]
        return [(first[pair == p], second[pair == p]) for p in np.unique(pair)]


@dataclass(frozen=True)
class ItemStatistics:
    """Sums of every item, (n_items,): D_o = Σ w o / Σ w p and D_e = Σ w e / Σ w q.

    w : how often the item was drawn; all 1 for the data themselves, where D_e is exact
    """

    o: NDArray[np.float64]
    p: NDArray[np.float64]
    e: NDArray[np.float64]
    q: NDArray[np.float64]


def item_statistics(
    data: Annotations, subsets: Sequence[NDArray[np.bool_]], expected: Expected
) -> list[ItemStatistics]:
    """Return the sums of every subset of the annotations; no distance is computed twice."""
    chosen = [np.asarray(subset, dtype=bool) for subset in subsets]
    if any(subset.shape != data.item.shape for subset in chosen):
        raise ValueError(f"a subset says of each of {data.item.size} annotations if it belongs")
    if expected == "shuffle":
        return [_shuffled(data, subset) for subset in chosen]
    if expected == "krippendorff":
        chosen = [subset & (data.count(subset)[data.item] >= 2) for subset in chosen]
    n_texts = len(data.encoded.symbols)
    weights = np.zeros((n_texts, len(chosen)))
    for column, subset in enumerate(chosen):
        weights[:, column] = np.bincount(data.text[subset], minlength=n_texts)
    sums = data.encoded.sums(weights)
    compute = _different_items if expected == "exact" else _coincidences
    return [compute(data, subset, sums[:, column]) for column, subset in enumerate(chosen)]


def _different_items(
    data: Annotations, subset: NDArray[np.bool_], sums: NDArray[np.float64]
) -> ItemStatistics:
    inside = data.inside(subset)
    apart = _add(data.item[data.first[inside]], data.apart[inside], data.n_items)
    m = data.count(subset).astype(float)
    # To all annotations, less those of the same item: each of its pairs was counted twice.
    r = _add(data.item[subset], sums[data.text[subset]], data.n_items) - 2 * apart
    k = m * (m.sum() - m)
    return ItemStatistics(o=apart, p=m * (m - 1) / 2, e=_project(r, k), q=k)


def _coincidences(
    data: Annotations, pairable: NDArray[np.bool_], sums: NDArray[np.float64]
) -> ItemStatistics:
    inside = data.inside(pairable)
    apart = _add(data.item[data.first[inside]], data.apart[inside], data.n_items)
    m = data.count(pairable).astype(float)
    r = _add(data.item[pairable], sums[data.text[pairable]], data.n_items)
    k = m * (m.sum() - 1)
    return ItemStatistics(o=2 * apart / np.maximum(m - 1, 1), p=m, e=_project(r, k), q=k)


def _shuffled(data: Annotations, subset: NDArray[np.bool_]) -> ItemStatistics:
    inside = data.inside(subset)
    item = data.item[data.first[inside]]
    o = _add(item, data.apart[inside], data.n_items)
    p = np.bincount(item, minlength=data.n_items).astype(float)
    e = np.zeros(data.n_items)
    for first, second in data.common_items(subset):
        rows, columns = data.encoded.cross_sums(data.text[first], data.text[second])
        n = len(first)
        mean = rows.sum() / n**2
        e += _add(data.item[first], (rows + columns) / n - mean, data.n_items)
    return ItemStatistics(o=o, p=p, e=e, q=p)


def _project(r: NDArray[np.float64], k: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e of Σ w e / Σ w k, the mean over pairs of items projected on single items.

    r, k : (n_items,) sum and number of distances of an item's annotations to all others
    The ratio Σ w r / Σ w k moves half as much as the mean over pairs does when w moves.
    """
    total = k.sum()
    return 2 * r - k * (r.sum() / total) if total else np.zeros_like(r)


def _add(place: NDArray[np.int64], values: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    return np.bincount(place, weights=values, minlength=n).astype(float)


def _number(values: Iterable[Hashable]) -> tuple[NDArray[np.int64], int]:
    """Return a number for each value, in order of first appearance, and how many there are."""
    numbers: dict[Hashable, int] = {}
    found = [numbers.setdefault(value, len(numbers)) for value in values]
    return np.array(found, dtype=np.int64), len(numbers)
