"""How well emergent traits agree with a published list of them.

Cao et al. (2022), §5.2, Q3: associations are sorted into (group, dimension, polarity), both those
of the list and those that a model's scores give, and compared as sets. The chance level draws as
many associations at random as were predicted. A threshold at zero predicts nearly everything, so
that the whole curve over thresholds and average precision stand beside it (`norm_curve`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from annotation.common.lazy import stats
from evaluation.analyses.intersectional_result import Emergence

Pole = Literal["low", "high"]


class Association(NamedTuple):
    """A group of unordered components leans to one pole of a dimension."""

    components: frozenset[str]
    dimension: str
    pole: Pole


@dataclass(frozen=True)
class NormAgreement:
    """Predicted against expected associations; NaN with a reason where undefined.

    precision, recall : 0 to 1
    precision_low … recall_high : what chance reaches in the middle `level` of all draws
    chance_precision, chance_recall : expectation of the same number of draws without replacement
    p_value : chance of at least as many hits (hypergeometric, one-sided)
    n_predicted, n_expected, n_hits, n_possible : sizes of the sets
    """

    precision: float
    recall: float
    chance_precision: float
    chance_recall: float
    chance_precision_low: float
    chance_precision_high: float
    chance_recall_low: float
    chance_recall_high: float
    p_value: float
    n_predicted: int
    n_expected: int
    n_hits: int
    n_possible: int
    reason: str = ""


def predict_associations(
    emergent: Sequence[Emergence], dimensions: Mapping[str, str]
) -> frozenset[Association]:
    """Return the associations of all emergent traits whose excess is above zero.

    Both orders of two components are one group; traits stand for their dimension.
    """
    return frozenset(
        Association(
            frozenset((entry.first, entry.second)),
            dimensions[entry.trait],
            "high" if entry.pole == "high" else "low",
        )
        for entry in emergent
        if entry.excess > 0
    )


def compare_with_norms(
    predicted: Collection[Association],
    expected: Collection[Association],
    *,
    dimensions: Collection[str],
    level: float = 0.95,
) -> NormAgreement:
    """Return precision and recall over the groups of the list, with the level of chance.

    predicted, expected : sets of associations; predictions for groups that the list does not
        name are left out, since nothing is known about them
    dimensions : those that the list covers; with two poles each they span what is possible

    Raises ValueError where the list names a dimension that is not among `dimensions`.
    """
    expected = set(expected)
    strange = sorted({entry.dimension for entry in expected} - set(dimensions))
    if strange:
        raise ValueError(f"the norms name the dimension '{strange[0]}', which is not compared")
    groups = {entry.components for entry in expected}
    considered = {
        entry
        for entry in predicted
        if entry.components in groups and entry.dimension in set(dimensions)
    }
    possible = len(groups) * len(set(dimensions)) * 2
    n_hits, n_predicted, n_expected = len(considered & expected), len(considered), len(expected)
    if not expected or not considered:
        reason = "the list of norms is empty" if not expected else "no trait emerges for its groups"
        undefined = (float("nan"),) * 9
        return NormAgreement(*undefined, n_predicted, n_expected, n_hits, possible, reason)
    chance = stats.hypergeom(possible, n_expected, n_predicted)
    low, high = chance.interval(level)
    return NormAgreement(
        precision=n_hits / n_predicted,
        recall=n_hits / n_expected,
        chance_precision=float(chance.mean()) / n_predicted,
        chance_recall=float(chance.mean()) / n_expected,
        chance_precision_low=float(low) / n_predicted,
        chance_precision_high=float(high) / n_predicted,
        chance_recall_low=float(low) / n_expected,
        chance_recall_high=float(high) / n_expected,
        p_value=float(np.clip(chance.sf(n_hits - 1), 0, 1)),
        n_predicted=n_predicted,
        n_expected=n_expected,
        n_hits=n_hits,
        n_possible=possible,
    )
