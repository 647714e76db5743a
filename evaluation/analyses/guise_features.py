"""Which linguistic features evoke a stereotype, and how it grows with their density.

Hofmann et al. (2024), Fig. 2c and Supplementary Information, Feature analysis. Strength is δ: the
mean score of a study's attributes minus that of all others (methods.md §11). Here it is computed
pair by pair, so that pairs can be told apart by the features of their first text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_draws import Floats, GuiseRun
from evaluation.analyses.guise_inference import (
    PairTable,
    pair_table,
    tests_disagree,
)
from evaluation.analyses.guise_variation import stereotype_weights
from evaluation.metrics.crossed_effects import crossed_effects
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.holm import correct_rows
from evaluation.metrics.one_sided_t import one_sample_t
from evaluation.metrics.shown import Shown
from evaluation.metrics.slope import Slope, robust_slope

#: Fewest pairs of a feature that are told apart.
LEAST_PAIRS = 5
PER_WORDS = 10
#: From so many features on, pairs are one step of the dose.
MOST = 4


@dataclass(frozen=True)
class TextFeatures:
    """Features of a set of pairs.

    counts : (n_pairs, n_features), of the first text less those of the second
    words : (n_pairs,) of the first text; lengthening : (n_pairs,) words more than in the second
    """

    counts: NDArray[np.int64]
    words: NDArray[np.int64]
    lengthening: NDArray[np.int64]


@dataclass(frozen=True)
class FeatureLine:
    """δ over the pairs whose first text has a feature that the second lacks.

    strength : mean over texts and prompts with its interval; n = pairs
    sd, n_cells, t, p_paper, p_paper_holm : the paper's one-sided t-test of δ in each version,
        setting and prompt against zero; Holm over the features of a model
    p_value : two-sided, from the same t as the interval
    question : what interval and p_value are about
    """

    model: Annotated[str, Shown("Model")]
    feature: Annotated[str, Shown()]
    strength: Annotated[
        Estimate,
        Shown(
            "δ",
            3,
            effect=True,
            meaning="strength over the pairs with the feature, texts and prompts as samples",
            unit="log ratio",
            n=Shown("Pairs", name="n_pairs"),
        ),
    ]
    sd: Annotated[float, Shown("sd", 3, meaning="over versions, settings and prompts, ddof 1")]
    n_cells: Annotated[int, Shown("Cells", 0, meaning="versions × settings × prompts")]
    t: Annotated[float, Shown("t", 2)]
    p_paper: Annotated[float, Shown()]
    p_paper_holm: Annotated[float, Shown("p (paper)", is_p=True)]
    p_value: float
    disagree: bool
    reason: str
    question: str


@dataclass(frozen=True)
class DoseLine:
    """δ of the pairs with so many features more in the first text; `most` for that and above."""

    model: Annotated[str, Shown("Model")]
    features: int
    most: bool
    strength: Annotated[Estimate, Shown("δ", 3, effect=True, n=Shown("Pairs", name="n_pairs"))]


@dataclass(frozen=True)
class DensityLine:
    """Change of δ with one more feature in ten words of the first text.

    adjusted : whether the first text's words, and how many more it has, are held constant
    """

    model: Annotated[str, Shown("Model")]
    adjusted: Annotated[bool, Shown()]
    slope: Slope


@dataclass(frozen=True)
class FeatureAnalysis:
    """The whole analysis.

    chosen : the attributes whose δ is taken
    features : in their order; pairs : how many pairs have each, over all sets of texts
    """

    options: GuiseOptions
    models: tuple[str, ...]
    chosen: tuple[str, ...]
    features: tuple[str, ...]
    pairs: tuple[int, ...]
    lines: tuple[FeatureLine, ...]
    doses: tuple[DoseLine, ...]
    densities: tuple[DensityLine, ...]


def analyze_features(
    runs: Sequence[GuiseRun],
    attributes: Sequence[str],
    chosen: Sequence[str],
    features: Sequence[str],
    texts: Mapping[str, TextFeatures],
    options: GuiseOptions,
    *,
    alone: bool = False,
) -> FeatureAnalysis:
    """Return the analysis of runs on pairs with the same attributes.

    chosen : stereotypical attributes; texts : features of every set of texts by its name
    alone : counts pairs for a feature only where no other one differs

    Raises ValueError where no attribute, or every one, is chosen.
    """
    weights = stereotype_weights(attributes, chosen)
    models = tuple(dict.fromkeys(run.model for run in runs))
    lines: list[FeatureLine] = []
    doses: list[DoseLine] = []
    densities: list[DensityLine] = []
    for model in models:
        some = [run for run in runs if run.model == model]
        table = pair_table(some, weights)
        if table is None:
            continue
        sets = [texts[name] for name in dict.fromkeys(table.sets)]
        counts = np.concatenate([one.counts for one in sets])
        found = [
            _line(model, name, some, table, weights, texts, place, options, alone=alone)
            for place, name in enumerate(features)
        ]
        lines += _corrected(found, options.level)
        doses += _doses(model, table, counts, options)
        words = np.concatenate([one.words for one in sets])
        lengthening = np.concatenate([one.lengthening for one in sets])
        densities += _densities(model, table, counts, words, lengthening, options)
    known = [texts[name] for name in dict.fromkeys(run.texts for run in runs)]
    return FeatureAnalysis(
        options,
        models,
        tuple(name for name in attributes if name in set(chosen)),
        tuple(features),
        tuple(
            sum(int(_has(one.counts, place, alone=alone).sum()) for one in known)
            for place in range(len(features))
        ),
        tuple(lines),
        tuple(doses),
        tuple(densities),
    )


def _has(counts: NDArray[np.int64], place: int, *, alone: bool) -> NDArray[np.bool_]:
    """Return whether a pair counts for the feature, (n_pairs,)."""
    has = counts[:, place] > 0
    return has & (np.delete(counts, place, axis=1) == 0).all(axis=1) if alone else has


def _line(
    model: str,
    feature: str,
    runs: Sequence[GuiseRun],
    table: PairTable,
    weights: Floats,
    texts: Mapping[str, TextFeatures],
    place: int,
    options: GuiseOptions,
    *,
    alone: bool,
) -> FeatureLine:
    has = {name: _has(texts[name].counts, place, alone=alone) for name in dict.fromkeys(table.sets)}
    chosen = np.concatenate(list(has.values()))
    n = int(chosen.sum())
    if n < LEAST_PAIRS:
        few = f"{n} pairs have it, and fewer than {LEAST_PAIRS} tell nothing"
        nothing = Estimate(np.nan, n=n, reason=few)
        return FeatureLine(
            model, feature, nothing, np.nan, 0, *(np.nan,) * 4, False, few, question=""
        )
    cells = [
        float(np.nanmean(row))
        for run in runs
        for row in pair_values(run, weights)[:, has[run.texts]]
        if not np.isnan(row).all()
    ]
    test = one_sample_t(cells, alternative="greater")
    ours = crossed_effects(table.values[:, chosen, 0], level=options.level)
    return FeatureLine(
        model,
        feature,
        ours.estimate,
        test.sd,
        test.n,
        test.statistic,
        test.p_value,
        np.nan,
        ours.p_value,
        disagree=False,
        reason=ours.estimate.note or test.reason,
        question=ours.question,
    )


def pair_values(run: GuiseRun, weights: Floats) -> Floats:
    """Return a contrast of every pair in every prompt of a run, (n_prompts, n_pairs)."""
    found = pair_table([run], weights)
    if found is None:
        raise ValueError("a run without pairs has no values of pairs")
    return found.values[..., 0]


def _corrected(lines: Sequence[FeatureLine], level: float) -> list[FeatureLine]:
    """Return the lines with p corrected; the paper tests one side, so that the other is open."""
    return [
        replace(
            line,
            disagree=tests_disagree(line.p_paper_holm, replace(line.strength, high=np.inf), level),
        )
        for line in correct_rows(lines, p_paper_holm="p_paper")
    ]


def _doses(
    model: str, table: PairTable, counts: NDArray[np.int64], options: GuiseOptions
) -> list[DoseLine]:
    number = np.clip(counts.sum(axis=1), 0, MOST)
    return [
        DoseLine(
            model,
            int(step),
            bool(step == MOST),
            crossed_effects(table.values[:, number == step, 0], level=options.level).estimate,
        )
        for step in np.unique(number)
    ]


def _densities(
    model: str,
    table: PairTable,
    counts: NDArray[np.int64],
    words: NDArray[np.int64],
    lengthening: NDArray[np.int64],
    options: GuiseOptions,
) -> list[DensityLine]:
    """Return the slope of a pair's δ, its mean over prompts, plain and adjusted for length."""
    strength = table.values[..., 0].mean(axis=0)
    density = PER_WORDS * counts.sum(axis=1) / np.maximum(words, 1)
    length = np.column_stack([np.log(np.maximum(words, 1)), lengthening])
    return [
        DensityLine(model, adjusted, robust_slope(strength, density, others, level=options.level))
        for adjusted, others in ((False, None), (True, length))
    ]
