"""How far people agree who rate the same groups: alpha and split-half reliability of ratings.

Cao et al. (2022) §4 with the published ratings: an annotator rates a few of the groups, so that
most cells of raters by units are missing. Within a group the units are its scales and the coders
its raters; overall the units are all cells of groups by scales. Halves are drawn within each group
from the raters who rated every scale; r is Pearson's between the two mean profiles, over all cells
where groups are taken together, and 2r / (1 + r) is Spearman and Brown's estimate for both halves.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd
from evaluation.analyses.noise_ceiling import random_halves
from evaluation.analyses.rating_cube import RatingCube, build_rating_cube
from evaluation.analyses.resample_options import ResamplingOptions
from evaluation.metrics import UndefinedReason
from evaluation.metrics.krippendorff_alpha import (
    MEASUREMENTS,
    KrippendorffAlpha,
    Measurement,
    krippendorff_alpha,
)
from evaluation.metrics.shown import Shown
from probing.measures.streams import named_stream

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RatingAgreementOptions(ResamplingOptions):
    """measurement : level at which alpha takes ratings; n_splits : halves; others as elsewhere."""

    measurement: Measurement = "interval"
    n_splits: int = 1000


@dataclass(frozen=True)
class SplitHalf:
    """Reliability of mean profiles.

    r, sd, spearman_brown : over the splits: mean and sd (ddof 1) of Pearson's r, mean of 2r/(1 + r)
    n_raters : ratings of a group by one person that were split, only those of every scale
    n_splits : splits that gave an r
    """

    r: Annotated[float, Shown("r", 2)]
    sd: Annotated[float, Shown("sd of r", 2, style="quiet")]
    spearman_brown: Annotated[float, Shown("Spearman–Brown", 2)]
    n_raters: Annotated[int, Shown("Raters in halves", 0)]
    n_splits: Annotated[int, Shown()]
    reason: Annotated[str, Shown()] = UndefinedReason.NONE


Halves = Annotated[SplitHalf, Shown(prefix="halves_", group="Halves")]


@dataclass(frozen=True)
class GroupAgreement:
    """One group; ``n_raters`` gave it at least one rating."""

    group: str
    n_raters: Annotated[int, Shown("Raters", 0)]
    alpha: KrippendorffAlpha
    split_half: Halves


@dataclass(frozen=True)
class ScaleAgreement:
    """Alpha of one scale; its units are the groups."""

    scale: str
    alpha: KrippendorffAlpha


@dataclass(frozen=True)
class DimensionAgreement:
    """Alpha of the scales of one dimension; its units are the cells of groups by these scales."""

    dimension: str
    alpha: KrippendorffAlpha


@dataclass(frozen=True)
class RatingAgreement:
    """The whole analysis; groups and scales in the given order.

    overall : at the chosen level of measurement; levels : at every one
    """

    options: RatingAgreementOptions
    n_raters: int
    n_ratings: int
    overall: KrippendorffAlpha
    levels: tuple[KrippendorffAlpha, ...]
    split_half: Halves
    groups: tuple[GroupAgreement, ...]
    scales: tuple[ScaleAgreement, ...]
    dimensions: tuple[DimensionAgreement, ...]


def analyze_rating_agreement(
    ratings: pd.DataFrame,
    *,
    groups: Sequence[str],
    scales: Sequence[str],
    dimensions: Mapping[str, str] | None = None,
    options: RatingAgreementOptions | None = None,
) -> RatingAgreement:
    """Return the agreement of raters.

    ratings : columns submission, group, scale, value; one row a rating from 0 to 100, without
        repeated groups
    dimensions : scale → dimension; None = not told apart

    Intervals of alpha are over people and units, since ratings of one person are not independent.
    Raises ValueError as `build_rating_cube` does.
    """
    chosen = options or RatingAgreementOptions()
    cube, _ = build_rating_cube(ratings, groups=groups, scales=scales)
    everyone = cube.flat()
    levels = tuple(_alpha(everyone, level, chosen) for level in MEASUREMENTS)
    splits = [_draw_profiles(cube, place, chosen) for place in range(len(cube.groups))]
    of_dimension: dict[str, list[int]] = {}
    for place, scale in enumerate(cube.scales):
        if dimension := (dimensions or {}).get(scale):
            of_dimension.setdefault(dimension, []).append(place)
    return RatingAgreement(
        options=chosen,
        n_raters=len(cube.submissions),
        n_ratings=int(cube.rated.sum()),
        overall=levels[MEASUREMENTS.index(chosen.measurement)],
        levels=levels,
        split_half=_split_half([found for found in splits if found is not None], chosen),
        groups=tuple(
            GroupAgreement(
                group=group,
                n_raters=int(cube.rated[:, place].any(axis=1).sum()),
                alpha=_alpha(cube.values[:, place], chosen.measurement, chosen),
                split_half=_split_half([split] if split is not None else [], chosen),
            )
            for place, (group, split) in enumerate(zip(cube.groups, splits, strict=True))
        ),
        scales=tuple(
            ScaleAgreement(scale, _alpha(cube.values[:, :, place], chosen.measurement, chosen))
            for place, scale in enumerate(cube.scales)
        ),
        dimensions=tuple(
            DimensionAgreement(
                dimension,
                _alpha(
                    cube.values[:, :, places].reshape(len(cube.submissions), -1),
                    chosen.measurement,
                    chosen,
                ),
            )
            for dimension, places in of_dimension.items()
        ),
    )


def _alpha(
    values: Floats, measurement: Measurement, options: RatingAgreementOptions
) -> KrippendorffAlpha:
    return krippendorff_alpha(
        values,
        measurement=measurement,
        over="annotators",
        level=options.level,
    )


@dataclass(frozen=True)
class _Profiles:
    """first, second : (n_splits, n_scales), mean ratings of either half."""

    first: Floats
    second: Floats
    n_raters: int


def _draw_profiles(
    cube: RatingCube, place: int, options: RatingAgreementOptions
) -> _Profiles | None:
    """Return the profiles of random halves of a group's raters, None with fewer than two."""
    complete = cube.values[:, place][cube.rated[:, place].all(axis=1)]
    n = len(complete)
    if n < 2 or not options.n_splits:
        return None
    rng = named_stream(options.seed, "halves", cube.groups[place])
    first = random_halves(n, options.n_splits, rng).astype(float)
    return _Profiles(first @ complete / (n // 2), (1 - first) @ complete / (n - n // 2), n)


def _split_half(profiles: Sequence[_Profiles], options: RatingAgreementOptions) -> SplitHalf:
    n_raters = sum(found.n_raters for found in profiles)
    if not options.n_splits:
        return SplitHalf(np.nan, np.nan, np.nan, n_raters, 0, UndefinedReason.NOT_REQUESTED)
    if not profiles:
        return SplitHalf(np.nan, np.nan, np.nan, n_raters, 0, UndefinedReason.ONE_COMPLETE_RATER)
    first = np.concatenate([found.first for found in profiles], axis=1)
    second = np.concatenate([found.second for found in profiles], axis=1)
    r = _pearson(first, second)
    r = r[~np.isnan(r)]
    if r.size < options.n_splits / 2:
        return SplitHalf(np.nan, np.nan, np.nan, n_raters, int(r.size), UndefinedReason.FEW_SPLITS)
    # r = −1 has no Spearman–Brown value; such a split counts for r alone.
    stepped_up = 2 * r[r > -1] / (1 + r[r > -1])
    return SplitHalf(
        r=float(r.mean()),
        sd=float(r.std(ddof=1)) if r.size > 1 else np.nan,
        spearman_brown=float(stepped_up.mean()) if stepped_up.size else np.nan,
        n_raters=n_raters,
        n_splits=int(r.size),
    )


def _pearson(first: Floats, second: Floats) -> Floats:
    """Return r of every row, NaN where a profile is flat or has fewer than three values."""
    undefined = np.full(len(first), np.nan)
    if first.shape[1] < 3:
        return undefined
    x, y = (values - values.mean(axis=1, keepdims=True) for values in (first, second))
    scale = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    return np.divide((x * y).sum(axis=1), scale, out=undefined, where=scale > 0)
