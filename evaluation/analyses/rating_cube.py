"""Ratings as an array: submissions × groups × scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd
from evaluation.analyses.alignment_result import LeftOut

COLUMNS = ("submission", "group", "scale", "value")


@dataclass(frozen=True)
class RatingCube:
    """values : (n_submissions, n_groups, n_scales), 0 to 100, NaN = not rated"""

    submissions: tuple[str, ...]
    groups: tuple[str, ...]
    scales: tuple[str, ...]
    values: NDArray[np.float64]

    @property
    def rated(self) -> NDArray[np.bool_]:
        """(n_submissions, n_groups, n_scales): where there is a rating."""
        return ~np.isnan(self.values)

    @property
    def counts(self) -> NDArray[np.int_]:
        """(n_groups, n_scales): ratings of every cell."""
        return self.rated.sum(axis=0)

    @property
    def means(self) -> NDArray[np.float64]:
        """(n_groups, n_scales): mean rating of every cell, NaN where nobody rated it."""
        total = np.where(self.rated, self.values, 0.0).sum(axis=0)
        counts = self.counts
        return np.divide(total, counts, out=np.full(total.shape, np.nan), where=counts > 0)

    def flat(self) -> NDArray[np.float64]:
        """(n_submissions, n_groups · n_scales): the same values, cells in a row."""
        return self.values.reshape(len(self.submissions), -1)


def build_rating_cube(
    ratings: pd.DataFrame, *, groups: Sequence[str], scales: Sequence[str]
) -> tuple[RatingCube, tuple[LeftOut, ...]]:
    """Return the ratings in the given order of groups and scales, and what has no place in it.

    ratings : columns submission, group, scale, value; one row a rating

    The order of the rows does not matter. Raises ValueError for missing columns, for a value
    that is no number from 0 to 100, and for two ratings of one cell by one submission.
    """
    _validate_order("groups", groups)
    _validate_order("scales", scales)
    _validate_ratings(ratings)
    group, scale = _places(ratings["group"], groups), _places(ratings["scale"], scales)
    known = (group >= 0) & (scale >= 0)
    kept = ratings["submission"][known]
    submissions = sorted(kept.unique(), key=str)
    values = np.full((len(submissions), len(groups), len(scales)), np.nan)
    place = (_places(kept, submissions), group[known], scale[known])
    values[place] = ratings["value"][known].to_numpy(dtype=float)
    cube = RatingCube(tuple(map(str, submissions)), tuple(groups), tuple(scales), values)
    no_group, no_scale = ratings["group"][group < 0], ratings["scale"][(group >= 0) & (scale < 0)]
    return cube, _strangers(no_group, no_scale)


def _places(names: pd.Series, order: Sequence[str]) -> NDArray[np.intp]:
    """(n_names,) where every name stands in the order, -1 for those that do not."""
    codes, found = pd.factorize(names, use_na_sentinel=False)
    known = {name: place for place, name in enumerate(order)}
    return np.array([known.get(name, -1) for name in found], dtype=np.intp)[codes]


def _strangers(groups: pd.Series, scales: pd.Series) -> tuple[LeftOut, ...]:
    """Count the ratings of groups, and of scales, that were not asked for."""
    found = [
        LeftOut("ratings", str(name), "", int(n), "the group is not part of this analysis")
        for name, n in groups.value_counts().sort_index().items()
    ]
    found += [
        LeftOut("ratings", "", str(name), int(n), "the scale is not part of this analysis")
        for name, n in scales.value_counts().sort_index().items()
    ]
    return tuple(found)


def _validate_order(name: str, order: Sequence[str]) -> None:
    if len(order) == 0:
        raise ValueError(f"there are no {name} to analyze")
    if len(set(order)) != len(order):
        doubled = sorted({item for item in order if list(order).count(item) > 1})
        raise ValueError(f"{name} are named twice: {', '.join(doubled)}")


def _validate_ratings(ratings: pd.DataFrame) -> None:
    absent = [column for column in COLUMNS if column not in ratings.columns]
    if absent:
        raise ValueError(f"the ratings lack the columns {', '.join(absent)}")
    numbers = pd.to_numeric(ratings["value"], errors="coerce").to_numpy(dtype=float)
    bad = np.flatnonzero(~((numbers >= 0) & (numbers <= 100)))
    if bad.size:
        row, value = bad[0] + 1, ratings["value"].iloc[bad[0]]
        raise ValueError(
            f"row {row}: value is {value!r}, expected a number from 0 to 100 ({bad.size} such rows)"
        )
    doubled = ratings.duplicated(["submission", "group", "scale"])
    if doubled.any():
        first = ratings[doubled].iloc[0]
        raise ValueError(
            f"two ratings of {first['group']} on {first['scale']} by one submission; "
            "leave repeated groups out"
        )
