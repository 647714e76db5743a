"""Agreement on which parts of texts are marked: Krippendorff's alpha over words or characters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from evaluation.metrics.bootstrap import Bootstrap
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.few_units import LEAST_RESAMPLED
from evaluation.metrics.known_values import quotient
from evaluation.metrics.shown import Shown, statistic
from evaluation.metrics.undefined import UndefinedReason

Marks = NDArray[np.bool_]


@dataclass(frozen=True)
class MarkAlpha:
    """Agreement of coders.

    estimate : at most 1, 0 = chance; n = texts with two coders or more, which are resampled whole,
        since marks within a text hang together
    n_units : words or characters of these texts
    n_marked : marks that any coder set on them
    """

    estimate: Annotated[Estimate, statistic("α", 2, "Counterparts", style="strong")]
    n_units: Annotated[int, Shown("{units}", 0)]
    n_marked: Annotated[int, Shown("Marks", 0)]


def mark_alpha(
    texts: Sequence[Marks], *, n_resamples: int = 2000, seed: int = 0, level: float = 0.95
) -> MarkAlpha:
    """Return nominal alpha of “marked” and “not marked”.

    texts : one table for each text, (n_coders, n_units), True = marked; those of fewer than two
        coders do not count

    With m coders of a unit, k of whom mark it, and n1 marks and n0 others in all:
    α = 1 − (n1 + n0 − 1) Σ k (m − k) / (m − 1) / (n1 n0), Krippendorff (2019), ch. 12.3.1, for two
    values. Undefined where all or none is marked.
    """
    coded = [marks for marks in texts if len(marks) >= 2 and marks.shape[1]]
    if not coded:
        return MarkAlpha(no_estimate(UndefinedReason.NO_OUTPUT_TWICE), 0, 0)
    parts = np.array([_sums(marks) for marks in coded])
    bootstrap = Bootstrap(len(coded), n_resamples=n_resamples, seed=seed, level=level)
    estimate = bootstrap.estimate(
        (parts[:, 0], parts[:, 1], parts[:, 2]),
        lambda sums: _alpha(*sums),
        n=len(coded),
        reason=UndefinedReason.NO_VARIATION,
        bounds=(-np.inf, 1.0),
    )
    if estimate.is_defined and len(coded) < LEAST_RESAMPLED:
        estimate = Estimate(estimate.value, n=len(coded), interval_reason=UndefinedReason.FEW_CODED)
    n_units = sum(marks.shape[1] for marks in coded)
    return MarkAlpha(estimate, n_units, int(parts[:, 1].sum()))


def _sums(marks: Marks) -> tuple[float, float, float]:
    """Return disagreement, marks and other values of one text."""
    m = len(marks)
    k = marks.sum(axis=0)
    return float((k * (m - k)).sum() / (m - 1)), float(k.sum()), float((m - k).sum())


def _alpha(
    apart: NDArray[np.float64], n_1: NDArray[np.float64], n_0: NDArray[np.float64]
) -> NDArray[np.float64]:
    return 1 - quotient((n_1 + n_0 - 1) * apart, n_1 * n_0)
