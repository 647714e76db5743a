"""Gaps between directions by linguistic feature and by how dense the features are.

Deas et al. (2023) §6 explain the gaps of their models by features of AAL: sources of text with more
of them show larger gaps. Here the explanation is measured, text by text: the slope of a gap on the
density of features, and the gap of texts with a feature less that of texts without it. Features are
those of the text in the source variety.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np

from annotation.common.lazy import pd
from evaluation.analyses.direction_gaps import DirectionTable, Floats
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.holm import correct_rows
from evaluation.metrics.known_values import quotient
from evaluation.metrics.shown import Shown
from evaluation.metrics.slope import robust_slope
from evaluation.metrics.t_test import t_test
from evaluation.metrics.undefined import UndefinedReason

WORDS = "words"
GAP = "gap"
PER_WORDS = 100
#: Fewest pairs with a feature, and without it, whose gaps are compared.
LEAST_PAIRS = 5


@dataclass(frozen=True)
class DensitySlope:
    """How a score changes with one more feature in 100 words.

    quantity : ``gap``, or the variety that was generated
    adjusted : whether source and length (ln words) of the text are held constant
    estimate : in units of the metric; n = pairs
    p_value : of a slope of 0, from the same standard error; NaN where there is none
    p_corrected : by Holm's method over all slopes of the quantity with the same adjustment
    """

    producer: str
    metric: str
    quantity: str
    adjusted: Annotated[bool, Shown(meaning="whether source and length are held constant")]
    estimate: Estimate
    p_value: Annotated[float, Shown("p", is_p=True)]
    p_corrected: Annotated[float, Shown("p (Holm)", is_p=True)]


@dataclass(frozen=True)
class FeatureGap:
    """The gap in pairs whose text has a feature beside that in pairs whose text has not.

    present, absent : mean gap, n = pairs; intervals resample pairs
    difference : present less absent, interval and p by Welch's t-test; n = pairs with the feature
    p_corrected : by Holm's method over all features and producers of the metric
    """

    producer: str
    metric: str
    feature: str
    present: Estimate
    absent: Estimate
    difference: Estimate
    p_value: Annotated[float, Shown("p", is_p=True)]
    p_corrected: Annotated[float, Shown("p (Holm)", is_p=True)]


@dataclass(frozen=True)
class FeatureResult:
    """The whole analysis.

    density : features in 100 words of a text, mean over pairs
    features : names, in their order; texts : pairs whose text has each
    """

    density: Estimate
    features: tuple[str, ...]
    texts: tuple[int, ...]
    slopes: tuple[DensitySlope, ...]
    gaps: tuple[FeatureGap, ...]


def analyze_features(
    table: DirectionTable, features: pd.DataFrame, sources: Sequence[str]
) -> FeatureResult:
    """Return slopes and gaps of every producer and metric of a table.

    features : pair → uses of each feature in the text of the source variety, one column each, and
        ``words``, the text's length; pairs of the table that are missing are left out
    sources : where the text of each pair of the table was drawn from
    """
    uses = features.reindex(table.pairs)
    words = uses.pop(WORDS).to_numpy(dtype=float)
    counts = uses.to_numpy(dtype=float)
    total = counts.sum(axis=1)
    density = quotient(PER_WORDS * total, words)
    names = tuple(map(str, uses.columns))
    covariates = _covariates(sources, words)
    slopes = [
        slope
        for adjusted in (False, True)
        for slope in _slopes(table, density, covariates if adjusted else None)
    ]
    has = {
        name: np.where(np.isnan(density), np.nan, counts[:, i] > 0) for i, name in enumerate(names)
    }
    return FeatureResult(
        density=table.bootstrap.mean(density),
        features=names,
        texts=tuple(int(np.nansum(has[name])) for name in names),
        slopes=tuple(
            correct_rows(slopes, lambda row: (row.quantity, row.adjusted), p_corrected="p_value")
        ),
        gaps=tuple(correct_rows(_gaps(table, has), lambda row: row.metric, p_corrected="p_value")),
    )


def _covariates(sources: Sequence[str], words: Floats) -> Floats:
    names = sorted(set(sources))[1:]
    dummies = [[float(source == name) for name in names] for source in sources]
    length = np.log(np.where(words > 0, words, 1.0))
    return np.column_stack([np.array(dummies).reshape(len(sources), len(names)), length])


def _quantities(table: DirectionTable) -> list[tuple[str, str, str, Floats]]:
    """Return producer, metric, quantity and values; both directions over the pairs with both."""
    source, target = table.options.source_variety, table.options.target_variety
    found = []
    for producer, metric in dict.fromkeys((key[0], key[2]) for key in table.values):
        sides = {
            variety: table.values[producer, variety, metric]
            for variety in (source, target)
            if (producer, variety, metric) in table.values
        }
        if len(sides) == 2:
            gap = sides[source] - sides[target]
            found.append((producer, metric, GAP, gap))
            sides = {name: np.where(np.isnan(gap), np.nan, side) for name, side in sides.items()}
        found += [(producer, metric, variety, values) for variety, values in sides.items()]
    return found


def _slopes(
    table: DirectionTable, density: Floats, covariates: Floats | None
) -> list[DensitySlope]:
    found = []
    for producer, metric, quantity, values in _quantities(table):
        slope = robust_slope(values, density, covariates, level=table.options.level)
        found.append(
            DensitySlope(
                producer,
                metric,
                quantity,
                covariates is not None,
                slope.estimate,
                slope.p_value,
                np.nan,
            )
        )
    return found


def _gaps(table: DirectionTable, has: dict[str, Floats]) -> list[FeatureGap]:
    found = []
    for producer, metric, quantity, values in _quantities(table):
        if quantity != GAP:
            continue
        for name, flags in has.items():
            present, absent = (np.where(flags == flag, values, np.nan) for flag in (1, 0))
            difference, p_value = _compare(present, absent, level=table.options.level)
            found.append(
                FeatureGap(
                    producer,
                    metric,
                    name,
                    table.bootstrap.mean(present),
                    table.bootstrap.mean(absent),
                    difference,
                    p_value,
                    np.nan,
                )
            )
    return found


def _compare(present: Floats, absent: Floats, *, level: float) -> tuple[Estimate, float]:
    n, n_absent = (int((~np.isnan(side)).sum()) for side in (present, absent))
    if min(n, n_absent) < LEAST_PAIRS:
        return no_estimate(UndefinedReason.FEW_WITH_FEATURE), np.nan
    test = t_test(present, absent, kind="welch", level=level)
    if test.reason:  # without spread there is a difference, and no interval
        return Estimate(test.difference, n=n, interval_reason=test.reason), np.nan
    return test.estimate, test.p_value
