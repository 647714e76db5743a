"""What of a guise's effect holds beyond these texts, and beyond these prompts.

Prompts, texts and versions of a model are no independent samples. Here every effect is a table of
prompts × texts: with six prompts or more, interval and p-value are for prompts like these, with
fewer for these prompts (`evaluation.metrics.crossed_effects`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evaluation.analyses.guise_draws import Floats, GuiseRun
from evaluation.analyses.resample_options import ResamplingOptions
from evaluation.metrics.crossed_effects import (
    CrossedEffects,
    crossed_difference,
    crossed_effects,
)
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.holm import correct_rows
from evaluation.metrics.undefined import UndefinedReason
from probing.measures.association import log_ratios

OTHER_TEXTS = "interval and test are of pairs, and the two sides read other texts or prompts"


@dataclass(frozen=True)
class PairTable:
    """One number for every pair in every prompt, of all runs of a model.

    values : (n_prompts, n_pairs, n_quantities), the first guise less the second; NaN = missing
    sets : number of the set of texts that a pair belongs to, (n_pairs,)
    """

    prompts: tuple[str, ...]
    values: Floats
    sets: tuple[str, ...]


@dataclass(frozen=True)
class CrossedLine:
    """An effect with the interval and the p-value of one question.

    part : the probe, or the outcome; name : the attribute or contrast
    estimate : mean over texts and prompts; n = texts
    p_value, p_holm : two-sided, Holm over the lines that were computed together: the attributes of
        one model and part, or all lines where each model has one; δ of a study is one by itself
    texts, prompts, rest : shares of the variance of single values, which add up to 1
    question : what interval and p-value are about, “prompts like these” or “these prompts”,
        empty without pairs
    """

    model: str
    part: str
    name: str
    estimate: Estimate
    n_prompts: int
    p_value: float
    p_holm: float
    texts: float
    prompts: float
    rest: float
    reason: str
    question: str


def pair_table(runs: Sequence[GuiseRun], contrast: Floats | None = None) -> PairTable | None:
    """Return log ratios of pairs by prompt; None where a run has no pairs or prompts differ.

    Runs on the same texts, such as versions of a model, are averaged; texts of other settings
    follow one another. contrast : (n_attributes,) weights that make one quantity of the attributes
    """
    if not runs or not all(run.paired for run in runs):
        return None
    prompts = tuple(name for name in runs[0].prompts if all(name in run.prompts for run in runs))
    if not prompts:
        return None
    by_texts: dict[str, list[Floats]] = {}
    for run in runs:
        ratios = log_ratios(run.first, run.second, base=run.base)
        ratios = np.where(run.agrees[:, None], ratios, np.nan)
        if contrast is not None:
            ratios = (ratios @ contrast)[..., None]
        places = [run.prompts.index(name) for name in prompts]
        by_texts.setdefault(run.texts, []).append(ratios[places])
    tables = {name: np.mean(some, axis=0) for name, some in by_texts.items()}
    return PairTable(
        prompts,
        np.concatenate(list(tables.values()), axis=1),
        tuple(name for name, table in tables.items() for _ in range(table.shape[1])),
    )


def crossed_lines(
    model: str,
    part: str,
    names: Sequence[str],
    table: PairTable | None,
    options: ResamplingOptions,
) -> list[CrossedLine]:
    """Return a line for every quantity of the table; each with the prompts in which it counts."""
    if table is None:
        why = UndefinedReason.NO_PAIR
        return [
            CrossedLine(
                model, part, name, no_estimate(why), 0, *(np.nan,) * 5, reason=why, question=""
            )
            for name in names
        ]
    lines = [
        CrossedLine(
            model,
            part,
            name,
            one.estimate,
            one.n_prompts,
            one.p_value,
            np.nan,
            one.share("texts"),
            one.share("prompts"),
            one.share("rest"),
            one.estimate.note,
            one.question,
        )
        for name, one in zip(names, fit_table(table, options.level), strict=True)
    ]
    return corrected_over(lines)


def fit_table(table: PairTable, level: float) -> list[CrossedEffects]:
    """Return mean, interval and test of every quantity, over the prompts in which it counts."""
    found = []
    for x in range(table.values.shape[-1]):
        values = table.values[..., x]
        counts = ~np.isnan(values).all(axis=1)  # prompts with the other article count for nothing
        found.append(crossed_effects(values[counts], level=level))
    return found


def fit_scores(
    runs: Sequence[GuiseRun],
    scores: Sequence[float] | Floats,
    level: float,
    *,
    n: int,
    why_no_pairs: str = "",
    contrast: Floats | None = None,
) -> list[CrossedEffects]:
    """Return interval and test round every score of the runs, where pairs give any.

    scores : of every attribute, or of the contrast; NaN = there is none
    n : what the estimates rest on; why_no_pairs : why there are no interval and p
    """
    table = None if why_no_pairs else pair_table(runs, contrast)
    return fit_pairs(table, scores, level, n=n, why_no_pairs=why_no_pairs)


def fit_pairs(
    table: PairTable | None,
    scores: Sequence[float] | Floats,
    level: float,
    *,
    n: int,
    why_no_pairs: str = "",
) -> list[CrossedEffects]:
    """Return interval and test round every score, as `fit_scores` does, of a table of pairs."""
    if table is None:
        fits = [_without_interval(why_no_pairs or UndefinedReason.NO_PAIR) for _ in scores]
    else:
        fits = fit_table(table, level)
    return [_about(fit, float(score), n) for score, fit in zip(scores, fits, strict=True)]


def _without_interval(why: str) -> CrossedEffects:
    return CrossedEffects(Estimate(np.nan, interval_reason=why))


def _about(fit: CrossedEffects, score: float, n: int) -> CrossedEffects:
    """Return interval and test round a score, NaN = there is none."""
    if np.isnan(score):
        return CrossedEffects(no_estimate(UndefinedReason.NO_VALUES))
    one = fit.about(score)
    # A score may be known where no text is in every prompt, so that there is no mean of pairs.
    why = one.estimate.reason or one.estimate.interval_reason
    return replace(one, estimate=replace(one.estimate, reason="", interval_reason=why, n=n))


def fit_contrast(
    runs: Sequence[GuiseRun], high: int, low: int, value: float, level: float, n: int
) -> CrossedEffects:
    """Return interval and test round q of one attribute less that of another."""
    some = [run.of_attributes([high, low]) for run in runs]
    (found,) = fit_scores(some, [value], level, n=n, contrast=np.array([1.0, -1.0]))
    return found


def fit_combination(
    parts: Sequence[tuple[float, Sequence[GuiseRun]]],
    value: float,
    level: float,
    *,
    n: int,
    contrast: Floats,
    why_no_pairs: str = "",
) -> CrossedEffects:
    """Return interval and test round a weighted sum of a contrast over models, or over guises.

    parts : weight and runs of each; all of them on the same pairs in the same prompts, of which
        every pair gives one sum in every prompt
    """
    tables = [None if why_no_pairs else pair_table(runs, contrast) for _, runs in parts]
    known = [table for table in tables if table is not None]
    summed = None
    if len(known) == len(parts):
        if len({(table.prompts, table.sets) for table in known}) == 1:
            weights = [weight for weight, _ in parts]
            values = sum(w * table.values for w, table in zip(weights, known, strict=True))
            summed = replace(known[0], values=np.asarray(values))
        else:
            why_no_pairs = OTHER_TEXTS
    (found,) = fit_pairs(summed, [value], level, n=n, why_no_pairs=why_no_pairs)
    return found


def fit_difference(
    first: Sequence[GuiseRun],
    second: Sequence[GuiseRun],
    value: float,
    level: float,
    *,
    n: int,
    contrast: Floats,
    why_not: str = "",
) -> CrossedEffects:
    """Return interval and test round a contrast after one guise less that after another.

    Pairs may be the same for both guises, or all of them others, in the same prompts.
    """
    one, other = (None if why_not else pair_table(runs, contrast) for runs in (first, second))
    if one is None or other is None:
        return _about(_without_interval(why_not or UndefinedReason.NO_PAIR), value, n)
    if one.prompts != other.prompts or (set(one.sets) & set(other.sets) and one.sets != other.sets):
        return _about(_without_interval(OTHER_TEXTS), value, n)
    if one.sets == other.sets:
        fit = crossed_effects(one.values[..., 0] - other.values[..., 0], level=level)
    else:
        fit = crossed_difference(one.values[..., 0], other.values[..., 0], level=level)
    return _about(fit, value, n)


def excludes_zero(estimate: Estimate) -> bool:
    """Return whether the interval lies on one side of zero; False without one."""
    return bool(estimate.low > 0 or estimate.high < 0)


def tests_disagree(p_paper: float, ours: Estimate, level: float) -> bool:
    """Return whether the paper's test finds what the interval does not, or the other way round.

    level : coverage of the interval; the test is asked at 1 − level, at 5 % beside 95 %

    Without one of the two there is nothing to compare.
    """
    if np.isnan(p_paper) or np.isnan(ours.low):
        return False
    return bool((p_paper < 1 - level) != excludes_zero(ours))


def corrected_over(lines: Sequence[CrossedLine]) -> list[CrossedLine]:
    """Return the lines with Holm's correction over all of them instead."""
    return correct_rows(lines, p_holm="p_value")
