"""What makes models differ: their size, and training with human feedback.

Hofmann et al. (2024), Methods, Scaling analysis and Human feedback; Fig. 4, Extended Data Tables 7
and 8; methods.md §11. Strength is δ, familiarity perplexity.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Annotated

import numpy as np

from evaluation.analyses.guise_cells import GuiseCell, GuiseOptions, guise_cells, runs_of
from evaluation.analyses.guise_draws import Floats, GuiseRun, Probe, run_scores
from evaluation.analyses.guise_inference import fit_combination, fit_scores, tests_disagree
from evaluation.analyses.guise_variation import standard_error, stereotype_weights
from evaluation.metrics.attribute_agreement import rank_attributes
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.known_values import sd_of_known
from evaluation.metrics.one_sided_t import pooled_t
from evaluation.metrics.shown import Shown
from evaluation.metrics.stereotypes import favorability
from evaluation.metrics.undefined import UndefinedReason

#: Hofmann et al. (2024), Methods: upper ends of the first three classes, in parameters.
SIZE_CLASSES: tuple[tuple[str, float], ...] = (
    ("small", 1.5e8),
    ("medium", 3.5e8),
    ("large", 1.0e10),
    ("very large", np.inf),
)
STRENGTH, FAVOR = "strength", "favorability"
FEW_MODELS = "a trend needs models of two different sizes at least"


@dataclass(frozen=True)
class ModelValues:
    """Perplexities of texts in one variety, or δ of a run.

    kind : “perplexity”, “pseudo-perplexity”, or the probe of δ; variety : empty for δ
    """

    model: str
    kind: str
    variety: str
    values: Floats


@dataclass(frozen=True)
class ModelLine:
    """One model: δ with its interval over texts and prompts; None for an unknown size."""

    model: Annotated[str, Shown("Model")]
    probe: Annotated[Probe, Shown("Probe")]
    parameters: int | None
    size: str
    strength: Annotated[Estimate, Shown("δ", 3, effect=True, n=Shown("Prompts", name="n_prompts"))]


@dataclass(frozen=True)
class SizeLine:
    """δ, or the perplexity of a variety, in one class of sizes.

    quantity : the probe, or the kind of perplexity; variety : empty for δ
    mean : less and plus one standard error over models, settings and prompts, or models and texts;
        n = these
    sd : ddof 1
    """

    quantity: str
    variety: str
    size: str
    models: tuple[str, ...]
    mean: Annotated[Estimate, Shown("Mean", 3, style="strong")]
    sd: Annotated[float, Shown("sd", 3, meaning="ddof 1")]


@dataclass(frozen=True)
class TrendLine:
    """Change of δ with ten times the parameters; interval over texts and prompts, n = models."""

    probe: Annotated[Probe, Shown("Probe")]
    slope: Annotated[
        Estimate, Shown("Change of δ", 3, effect=True, n=Shown("Models", name="n_models"))
    ]


@dataclass(frozen=True)
class FeedbackLine:
    """Models without human feedback beside models with it.

    without, with_it : means over prompts; sd_without, sd_with with ddof 1
    t, df, p_value : two-sided pooled t-test over prompts
    difference : with less without, texts and prompts resampled; n = prompts
    """

    probe: Annotated[Probe, Shown("Probe")]
    quantity: Annotated[str, Shown("Quantity")]
    without: Annotated[float, Shown("Without", 3, signed=True)]
    sd_without: Annotated[float, Shown("s", 3, meaning="over prompts, ddof 1")]
    with_it: Annotated[float, Shown("With", 3, name="with", signed=True)]
    sd_with: Annotated[float, Shown("s", 3, meaning="over prompts, ddof 1")]
    t: Annotated[float, Shown("t", 2)]
    df: Annotated[float, Shown("df", 0)]
    p_value: Annotated[float, Shown("p (paper)", name="p", is_p=True)]
    difference: Annotated[Estimate, Shown("With − without", 3, effect=True)]
    disagree: bool
    reason: str


@dataclass(frozen=True)
class ModelAnalysis:
    options: GuiseOptions
    chosen: tuple[str, ...]
    models: tuple[ModelLine, ...]
    sizes: tuple[SizeLine, ...]
    trends: tuple[TrendLine, ...]
    feedback: tuple[FeedbackLine, ...]


def size_class(parameters: float | None) -> str:
    """Return the paper's class of a number of parameters, empty where it is not known.

    Numbers count as they are printed, with two digits: GPT-2 medium has 3.5e8 and is medium,
    RoBERTa large has 3.6e8 and is large (Extended Data Table 7).

    >>> size_class(354_823_168), size_class(355_359_744), size_class(None)
    ('medium', 'large', '')
    """
    if parameters is None:
        return ""
    printed = float(f"{parameters:.1e}")
    return next(name for name, most in SIZE_CLASSES if printed <= most)


def analyze_models(
    runs: Sequence[GuiseRun],
    attributes: Sequence[str],
    chosen: Sequence[str],
    sizes: Mapping[str, int | None],
    perplexities: Sequence[ModelValues],
    favor: Mapping[str, float],
    feedback: tuple[Sequence[str], Sequence[str]],
    options: GuiseOptions,
) -> ModelAnalysis:
    """Return the analysis of runs with the same attributes, in alphabetical order.

    chosen : stereotypical attributes; sizes : model → parameters
    feedback : names of the models without human feedback, and of those with it

    Raises ValueError where no attribute, or every one, is chosen.
    """
    weights = stereotype_weights(attributes, chosen)
    cells = guise_cells(runs, options)
    models = [
        ModelLine(
            cell.model,
            cell.probe,
            sizes.get(cell.model),
            size_class(sizes.get(cell.model)),
            fit_scores(
                runs_of(cell, runs),
                [float(cell.q @ weights)],
                options.level,
                n=len(cell.prompts),
                why_no_pairs=cell.why_no_pairs,
                contrast=weights,
            )[0].estimate,
        )
        for cell in cells
    ]
    probes = list(dict.fromkeys(cell.probe for cell in cells))
    strengths = [
        ModelValues(run.model, run.probe, "", run_scores(run, options.matching) @ weights)
        for run in runs
    ]
    return ModelAnalysis(
        options,
        tuple(name for name in attributes if name in set(chosen)),
        tuple(models),
        tuple(_by_size([*strengths, *perplexities], sizes)),
        tuple(_trend(probe, cells, runs, weights, sizes, options) for probe in probes),
        tuple(
            line
            for probe in probes
            for line in _feedback(probe, runs, attributes, weights, favor, feedback, options)
        ),
    )


def _by_size(values: Sequence[ModelValues], sizes: Mapping[str, int | None]) -> list[SizeLine]:
    found = []
    kinds = dict.fromkeys((one.kind, one.variety) for one in values)
    for (kind, variety), (name, _) in product(kinds, SIZE_CLASSES):
        some = [
            one
            for one in values
            if (one.kind, one.variety) == (kind, variety)
            and size_class(sizes.get(one.model)) == name
        ]
        if some:
            known = np.concatenate([one.values for one in some])
            models = tuple(dict.fromkeys(one.model for one in some))
            mean = standard_error(known)
            found.append(SizeLine(kind, variety, name, models, mean, sd_of_known(known)))
    return found


def _trend(
    probe: Probe,
    cells: Sequence[GuiseCell],
    runs: Sequence[GuiseRun],
    weights: Floats,
    sizes: Mapping[str, int | None],
    options: GuiseOptions,
) -> TrendLine:
    """Return the least-squares slope of δ on log10 of the parameters, over models."""
    known = [
        (float(np.log10(size)), cell)
        for cell in cells
        if cell.probe == probe and (size := sizes.get(cell.model))
    ]
    logs = np.array([log for log, _ in known])
    if len(set(logs.tolist())) < 2:
        return TrendLine(probe, no_estimate(FEW_MODELS))
    away = logs - logs.mean()
    away /= away @ away
    value = float(np.array([cell.q @ weights for _, cell in known]) @ away)
    found = fit_combination(
        [(float(part), runs_of(cell, runs)) for part, (_, cell) in zip(away, known, strict=True)],
        value,
        options.level,
        n=len(known),
        contrast=weights,
        why_no_pairs=next((cell.why_no_pairs for _, cell in known if cell.why_no_pairs), ""),
    )
    return TrendLine(probe, found.estimate)


def _feedback(
    probe: Probe,
    runs: Sequence[GuiseRun],
    attributes: Sequence[str],
    weights: Floats,
    favor: Mapping[str, float],
    feedback: tuple[Sequence[str], Sequence[str]],
    options: GuiseOptions,
) -> list[FeedbackLine]:
    sides = [
        [replace(run, model="one") for run in runs if run.probe == probe and run.model in names]
        for names in feedback
    ]
    if not all(sides):
        return []
    cells = [guise_cells(side, options)[0] for side in sides]
    strengths = [cell.by_prompt @ weights for cell in cells]
    less = float(cells[1].q @ weights) - float(cells[0].q @ weights)
    difference = fit_combination(
        [(1.0, sides[1]), (-1.0, sides[0])],
        less,
        options.level,
        n=_prompts_of_both(strengths),
        contrast=weights,
        why_no_pairs=cells[0].why_no_pairs or cells[1].why_no_pairs,
    ).estimate
    lines = [_compared(probe, STRENGTH, strengths, difference, options)]
    if favor:
        values = [
            np.array([_favorability(row, attributes, favor) for row in cell.by_prompt])
            for cell in cells
        ]
        overall = [_favorability(cell.q, attributes, favor) for cell in cells]
        less, why = overall[1] - overall[0], UndefinedReason.BEST_OF_NOISY
        difference = (
            no_estimate(UndefinedReason.NO_VALUES)
            if np.isnan(less)
            else Estimate(less, n=_prompts_of_both(values), interval_reason=why)
        )
        lines.append(_compared(probe, FAVOR, values, difference, options))
    return lines


def _prompts_of_both(values: Sequence[Floats]) -> int:
    return min(int((~np.isnan(side)).sum()) for side in values)


def _favorability(q: Floats, attributes: Sequence[str], favor: Mapping[str, float]) -> float:
    """Return the weighted favorability of the first five of a ranking."""
    scores = dict(zip(attributes, map(float, q), strict=True))
    return favorability(rank_attributes(scores), scores, favor).weighted


def _compared(
    probe: Probe,
    quantity: str,
    values: Sequence[Floats],
    difference: Estimate,
    options: GuiseOptions,
) -> FeedbackLine:
    without, with_it = (side[~np.isnan(side)] for side in values)
    test = pooled_t(without, with_it, alternative="greater")
    means = [float(side.mean()) if side.size else np.nan for side in (without, with_it)]
    # methods.md §18 row 24: the released tables have ddof 0, here it is 1.
    spreads = [sd_of_known(side) for side in (without, with_it)]
    return FeedbackLine(
        probe,
        quantity,
        means[0],
        spreads[0],
        means[1],
        spreads[1],
        test.statistic,
        test.df,
        test.p_two_sided,
        difference,
        tests_disagree(test.p_two_sided, difference, options.level),
        test.reason or difference.note,
    )
