"""What of a guise's effect holds beyond these texts and these prompts.

Prompts, texts and versions of a model are no independent samples. Here every effect is a table of
prompts × texts, whose rows and columns are both samples (`evaluation.metrics.crossed_effects`), and
placebo guises say what chance does: they exchange the texts of a pair in all prompts at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.analyses.guise_cells import PLACEBO_PAIRS
from evaluation.analyses.guise_draws import Floats, GuiseRun
from evaluation.analyses.resample_options import ResamplingOptions
from evaluation.metrics.crossed_effects import CrossedEffects, crossed_effects
from evaluation.metrics.draws import share_as_far
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.holm import correct_rows
from evaluation.metrics.undefined import UndefinedReason
from probing.measures.association import log_ratios
from probing.measures.streams import named_stream


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
    """An effect with texts and prompts as samples.

    part : the probe, or the outcome; name : the attribute or contrast
    estimate : mean over texts and prompts; n = texts
    p_value, p_holm : two-sided, Holm over the lines that were computed together: the attributes of
        one model and part, or all lines where each model has one; δ of a study is one by itself
    p_placebo : how often placebo guises give a mean as far from zero
    texts, prompts, rest : shares of the variance of single values, which add up to 1
    """

    model: str
    part: str
    name: str
    estimate: Estimate
    n_prompts: int
    p_value: float
    p_holm: float
    p_placebo: float
    texts: float
    prompts: float
    rest: float
    reason: str = UndefinedReason.NONE


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
            CrossedLine(model, part, name, no_estimate(why), 0, *(np.nan,) * 6, reason=why)
            for name in names
        ]
    found = [_fit(table.values[..., x], options.level) for x in range(len(names))]
    placebo = placebo_p_values(table, n_placebos=options.n_resamples, seed=options.seed)
    lines = [
        CrossedLine(
            model,
            part,
            name,
            one.estimate,
            one.n_prompts,
            one.p_value,
            np.nan,
            float(p_placebo),
            one.share("texts"),
            one.share("prompts"),
            one.share("rest"),
            one.estimate.note,
        )
        for name, one, p_placebo in zip(names, found, placebo, strict=True)
    ]
    return corrected_over(lines)


def placebo_p_values(table: PairTable, *, n_placebos: int, seed: int) -> Floats:
    """Return two-sided p of the means, (n_quantities,); NaN for fewer than six pairs.

    A pair's signs are exchanged in all prompts at once. The p counts the table as one of the
    placebos (Phipson and Smyth 2010).
    """
    known = ~np.isnan(table.values)
    n_prompts = known.sum(axis=0)  # (n_pairs, n_quantities)
    sums = np.where(known, table.values, 0.0).sum(axis=0)
    by_pair = np.divide(sums, n_prompts, out=np.zeros(sums.shape), where=n_prompts > 0)
    n_pairs, n = len(by_pair), (n_prompts > 0).sum(axis=0)
    signs = named_stream(seed, "placebos", *dict.fromkeys(table.sets)).choice(
        [-1.0, 1.0], size=(n_placebos, n_pairs)
    )
    p_values = share_as_far(signs @ by_pair, by_pair.sum(axis=0))
    return np.where(n >= PLACEBO_PAIRS, p_values, np.nan)


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


def _fit(values: Floats, level: float) -> CrossedEffects:
    counts = ~np.isnan(values).all(axis=1)  # prompts with the other article count for nothing
    return crossed_effects(values[counts], level=level)
