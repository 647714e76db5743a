"""Emergent traits against a published list at every threshold of their excess.

Ours, beside the single point of Cao et al. (2022), §5.2: a threshold at zero predicts nearly
everything. Average precision sums up the curve; its chance level shuffles the excesses.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.emergence_norms import Association
from evaluation.analyses.intersectional_result import Emergence
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.shown import Shown
from evaluation.metrics.undefined import UndefinedReason
from probing.measures.streams import named_stream

Floats = NDArray[np.float64]

POLES = ("low", "high")


@dataclass(frozen=True)
class CurvePoint:
    """Precision and recall of all associations with an excess of `threshold` or more."""

    threshold: Annotated[
        float, Shown("Least excess", 3, meaning="smallest excess", unit="the measure’s")
    ]
    n_predicted: Annotated[int, Shown("Predicted", 0)]
    n_hits: Annotated[int, Shown("Hits", 0)]
    precision: Annotated[float, Shown("Precision", 2, style="strong")]
    recall: Annotated[float, Shown("Recall", 2, style="strong")]


AveragePrecision = Annotated[
    Estimate,
    Shown(
        "Average precision",
        2,
        name="average_precision",
        style="strong",
        meaning="Σ (Rₖ − Rₖ₋₁) Pₖ over all possible associations, 0 to 1",
    ),
]


@dataclass(frozen=True)
class NormCurve:
    """Associations in the order of their excess against the list; NaN with a reason.

    points : from the largest excess to the smallest, ties together
    average_precision : Σ (Rₖ − Rₖ₋₁) Pₖ over all possible associations, those that do not emerge
        last and together; 0 to 1
    low, high : NaN: no interval is known to hold
    chance, p_value : mean of `n_shuffles` shuffles of the excesses, and the share of them, the
        value itself counted, that is as large
    n_groups, n_expected, n_possible : groups of the list, expected and possible associations
    """

    points: tuple[CurvePoint, ...]
    average_precision: float
    low: float
    high: float
    chance: Annotated[float, Shown("By chance", 2, meaning="mean of shuffles of the excesses")]
    p_value: Annotated[
        float, Shown("p", is_p=True, meaning="share of shuffles with as large a value")
    ]
    n_shuffles: Annotated[int, Shown()]
    n_groups: Annotated[int, Shown("Groups", 0, meaning="groups of the list")]
    n_expected: Annotated[int, Shown("Expected", 0, meaning="associations of the list")]
    n_possible: Annotated[int, Shown("Possible", 0, meaning="groups × dimensions × poles")]
    reason: str = ""
    interval_reason: str = ""

    @property
    def estimate(self) -> AveragePrecision:
        return Estimate(
            self.average_precision,
            self.low,
            self.high,
            self.n_groups,
            self.reason,
            self.interval_reason,
        )


def trace_norms(
    emergent: Sequence[Emergence],
    expected: Collection[Association],
    dimensions: Mapping[str, str],
    *,
    n_resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
) -> NormCurve:
    """Return precision and recall at every threshold of the excess, and average precision.

    emergent : every association beyond both components, however small its excess
    expected : the list; groups and dimensions that it does not name are left out
    dimensions : trait → dimension
    n_resamples : shuffles

    An association of several traits or of both orders has the largest of their excesses.
    """
    excess, hits, groups = _rank(emergent, expected, dimensions)
    sizes = (len(groups), len(set(expected)), hits.size)
    if not excess.any():
        reason = "no trait emerges for its groups" if groups else "the list of norms is empty"
        return NormCurve((), *(float("nan"),) * 5, 0, *sizes, reason, UndefinedReason.NO_ESTIMATE)
    value = average_precision(excess.ravel(), hits.ravel())
    rng = named_stream(seed, "norms", "shuffles")
    shuffled = np.array(
        [
            average_precision(rng.permutation(excess.ravel()), hits.ravel())
            for _ in range(n_resamples)
        ]
    )
    return NormCurve(
        points=_points(excess.ravel(), hits.ravel()),
        average_precision=value,
        low=float("nan"),
        high=float("nan"),
        chance=float(shuffled.mean()) if n_resamples else float("nan"),
        # Equal values are summed in different orders.
        p_value=float((1 + (shuffled >= value - 1e-12).sum()) / (1 + n_resamples))
        if n_resamples
        else float("nan"),
        n_shuffles=n_resamples,
        n_groups=sizes[0],
        n_expected=sizes[1],
        n_possible=sizes[2],
        interval_reason=UndefinedReason.RANKING,
    )


def average_precision(scores: Floats, hits: Floats) -> float:
    """Return Σ (Rₖ − Rₖ₋₁) Pₖ over distinct scores from the largest; NaN without hits.

    scores, hits : (n,) numbers, and 1 for what is expected, 0 otherwise
    """
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    found = np.cumsum(hits[order])[last]
    predicted = last + 1.0
    if not found[-1] > 0:
        return float("nan")
    precision = np.divide(found, predicted, out=np.zeros(len(last)), where=predicted > 0)
    return float(np.diff(found, prepend=0.0) @ precision / found[-1])


def _rank(
    emergent: Sequence[Emergence],
    expected: Collection[Association],
    dimensions: Mapping[str, str],
) -> tuple[Floats, Floats, list[frozenset[str]]]:
    """Return excess and hits of every group and pole of a dimension, and the groups.

    Both are (n_groups, n_poles); an excess of 0 says that the association does not emerge.
    """
    groups = sorted({entry.components for entry in expected}, key=sorted)
    named = sorted({entry.dimension for entry in expected})
    row = {components: i for i, components in enumerate(groups)}
    column = {
        (name, pole): 2 * i + j for i, name in enumerate(named) for j, pole in enumerate(POLES)
    }
    excess, hits = np.zeros((2, len(groups), len(column)))
    for association in expected:
        hits[row[association.components], column[association.dimension, association.pole]] = 1
    for entry in emergent:
        i = row.get(frozenset((entry.first, entry.second)))
        j = column.get((dimensions[entry.trait], entry.pole))
        if i is not None and j is not None:
            excess[i, j] = max(excess[i, j], entry.excess)
    return excess, hits, groups


def _points(excess: Floats, hits: Floats) -> tuple[CurvePoint, ...]:
    points = []
    for threshold in sorted(set(excess[excess > 0].tolist()), reverse=True):
        chosen = excess >= threshold
        n, n_hits = int(chosen.sum()), int(hits[chosen].sum())
        points.append(CurvePoint(threshold, n, n_hits, n_hits / n, n_hits / float(hits.sum())))
    return tuple(points)
