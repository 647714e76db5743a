"""All that a report says of one classifier's false positive rates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluation.analyses.fpr_counts import GapOptions, Predictions
from evaluation.analyses.fpr_gaps import ModelGaps, analyze_gaps
from evaluation.analyses.fpr_mixed import MixedFit, fit_mixed
from evaluation.analyses.fpr_prompting import (
    FactorShare,
    FallbackBounds,
    factor_shares,
    fallback_bounds,
)


@dataclass(frozen=True)
class FprGaps:
    """The analysis of one model; `classes` by their numbers.

    bounds, factors : of prompted models, empty for others
    """

    options: GapOptions
    classes: tuple[str, ...]
    result: ModelGaps
    bounds: tuple[FallbackBounds, ...]
    factors: tuple[FactorShare, ...]
    mixed: tuple[MixedFit, ...]


def analyze_classifier(
    predictions: Predictions,
    options: GapOptions,
    surprisal: Mapping[tuple[str, str], float] | None,
    sides: Sequence[str],
) -> FprGaps:
    """Return gaps, bounds for answers without a class, shares of the prompts, and the mixed model.

    surprisal : as for :func:`analyze_gaps`; sides : those of the mixed model, which takes longest
    """
    return FprGaps(
        options,
        predictions.classes,
        analyze_gaps(predictions, options, surprisal),
        fallback_bounds(predictions, options),
        factor_shares(predictions, options),
        fit_mixed(predictions, options, sides),
    )
