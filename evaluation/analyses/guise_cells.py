"""Scores of one model in one probe: by prompt and overall, with their resamples and placebos."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evaluation.analyses.guise_draws import (
    Floats,
    GuiseRun,
    Matching,
    Probe,
    mean_over_prompts,
    placebo_scores,
    prompt_counts,
    resampled_scores,
    run_scores,
    stack_prompts,
)
from evaluation.analyses.resample_options import ResamplingOptions
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.interval import UNBOUNDED, bias_corrected_interval
from evaluation.metrics.undefined import UndefinedReason

#: Exchanging five pairs gives 32 placebos, too few for p below 0.05 on two sides.
PLACEBO_PAIRS = 6
UNPAIRED = "interval and test are of pairs, and some texts are in none"
POOLED = "interval and test are of pairs, and texts are pooled"


@dataclass(frozen=True)
class GuiseOptions(ResamplingOptions):
    """Options of the analysis; see the report's parameters."""

    matching: Matching = "meaning_matched"
    n_permutations: int = 10_000


@dataclass(frozen=True)
class GuiseCell:
    """The scores of one model in one probe, by prompt and overall, with resamples and placebos.

    why_no_pairs : empty where all texts are in pairs
    """

    model: str
    probe: Probe
    prompts: tuple[str, ...]
    by_prompt: Floats
    drawn_by_prompt: Floats
    counts: Floats
    placebo: Floats | None
    why_no_pairs: str = ""

    @property
    def q(self) -> Floats:
        return mean_over_prompts(self.by_prompt)

    @property
    def drawn(self) -> Floats:
        return mean_over_prompts(self.drawn_by_prompt, self.counts)


def guise_cells(runs: Sequence[GuiseRun], options: GuiseOptions) -> list[GuiseCell]:
    """Return a cell for every model and probe, in the order of the runs."""
    groups: dict[tuple[str, Probe], list[GuiseRun]] = {}
    for run in runs:
        groups.setdefault((run.model, run.probe), []).append(run)
    return [_cell(*key, some, options) for key, some in groups.items()]


def _cell(model: str, probe: Probe, runs: Sequence[GuiseRun], options: GuiseOptions) -> GuiseCell:
    matching, seed = options.matching, options.seed
    prompts, by_prompt = stack_prompts([(run.prompts, run_scores(run, matching)) for run in runs])
    _, drawn = stack_prompts(
        [
            (
                run.prompts,
                resampled_scores(run, matching, n_resamples=options.n_resamples, seed=seed),
            )
            for run in runs
        ]
    )
    placebos = [
        (run.prompts, placebo_scores(run, n_placebos=options.n_resamples, seed=seed))
        for run in runs
    ]
    known = [(names, values) for names, values in placebos if values is not None]
    placebo, why = None, ""
    if matching != "meaning_matched":
        why = POOLED
    elif len(known) < len(runs):
        why = UNPAIRED
    elif min(run.n_texts for run in runs) >= PLACEBO_PAIRS:
        placebo = mean_over_prompts(stack_prompts(known)[1])
    counts = prompt_counts(len(prompts), n_resamples=options.n_resamples, seed=seed)
    return GuiseCell(model, probe, prompts, by_prompt, drawn, counts, placebo, why)


def estimate_of(
    value: float,
    drawn: Floats,
    n: int,
    options: ResamplingOptions,
    reason: str = UndefinedReason.NO_VALUES,
    bounds: tuple[float, float] = UNBOUNDED,
) -> Estimate:
    """Return a value with the interval of its resamples.

    reason : why there is no value
    bounds : the range of the quantity, at which the interval is cut. What picks the best of noisy
        scores is lower in resamples than in the data; the interval is then moved to the value, and
        would pass the range.
    """
    if np.isnan(value):
        return no_estimate(reason)
    found = bias_corrected_interval(value, drawn, level=options.level, bounds=bounds)
    return Estimate.within(value, found, n)


def norm_bounds(favor: Floats) -> tuple[float, float]:
    """Return the range of a norm over the attributes that it knows: means of them lie within."""
    known = favor[~np.isnan(favor)]
    return (float(known.min()), float(known.max())) if known.size else UNBOUNDED


def drawn_favorability(drawn: Floats, favor: Floats, *, k: int = 5) -> tuple[Floats, Floats]:
    """Return the unweighted and the weighted favorability of the first k of every resample."""
    known = np.where(np.isnan(favor) | np.isnan(drawn), -np.inf, drawn)
    top = np.argsort(-known, axis=1, kind="stable")[:, :k]
    values, weights = favor[top], np.take_along_axis(drawn, top, axis=1)
    positive = (weights > 0).all(axis=1)
    sums = weights.sum(axis=1)
    weighted = np.divide(
        (values * weights).sum(axis=1), sums, out=np.full(len(drawn), np.nan), where=positive
    )
    return values.mean(axis=1), weighted
