"""Whether a guise's effect is that of the variety: other guises, noise, length, perplexity, chance.

methods.md §10.6; Hofmann et al. (2024), Supplementary Information, Alternative explanations. All is
told of δ, the mean score of a study's attributes minus that of all others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from evaluation.analyses.guise_cells import GuiseCell, GuiseOptions, guise_cells
from evaluation.analyses.guise_draws import (
    Floats,
    GuiseRun,
    mean_over_prompts,
    placebo_scores,
    stack_prompts,
)
from evaluation.analyses.guise_inference import fit_difference, fit_scores, pair_table
from evaluation.analyses.guise_variation import stereotype_weights
from evaluation.metrics.attribute_agreement import rank_attributes
from evaluation.metrics.draws import middle
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.holm import holm_correction
from evaluation.metrics.known_values import mean_of_known
from evaluation.metrics.rank_correlation import kendall_tau_b
from evaluation.metrics.shown import Shown
from evaluation.metrics.slope import Slope, robust_intercept
from evaluation.metrics.undefined import UndefinedReason
from probing.measures.association import log_mean_exp
from probing.measures.streams import named_stream

SUBJECT, CONTROL, MATCHED = "subject", "control", "matched"
#: Exchanging five pairs gives 32 placebos, too few for p below 0.05 on two sides.
LEAST_PAIRS = 6
PART = "these pairs are some of the subject’s own"
N_HALVES = 400


@dataclass(frozen=True)
class ControlRun:
    """A run with what its pairs differ in besides the variety.

    guise : the first variety, “AAE”; against the second one, `other`
    lengthening : (n_pairs,) words of the first text less those of the second
    surprisal : (n_pairs,) mean −ln P of a token of the first text less that of the second, of the
        same model; None without a run on perplexity
    tokens : (n_pairs,) tokens more in the first text, of the same run
    """

    run: GuiseRun
    guise: str
    other: str
    lengthening: Floats
    surprisal: Floats | None = None
    tokens: Floats | None = None


@dataclass(frozen=True)
class ControlLine:
    """δ after one guise.

    kind : the subject, a control with other texts, or pairs of the subject that are matched
    strength, p_value : with the interval and the two-sided p of one t
    question : what both are about, empty without pairs
    tau : of its ranking of attributes with the subject's; first : its first five attributes
    difference : δ of the subject less this one, with the interval of the same question
    """

    model: Annotated[str, Shown("Model")]
    guise: Annotated[str, Shown("Guise")]
    kind: Annotated[str, Shown(meaning="subject, control, or matched pairs of the subject")]
    strength: Annotated[Estimate, Shown("δ", 3, effect=True, unit="log ratio")]
    n_pairs: Annotated[int, Shown("Texts", 0)]
    tau: Annotated[float, Shown("τ", 2, meaning="of its ranking with the subject’s")]
    first: tuple[str, ...]
    difference: Annotated[
        Estimate,
        Shown(
            "Subject − it",
            3,
            prefix="difference_",
            signed=True,
            meaning="δ of the subject less δ of this guise",
        ),
    ]
    p_value: float
    question: str


@dataclass(frozen=True)
class AdjustedLine:
    """An effect of the subject with differences of length and surprisal held at zero.

    name : an attribute, or δ; plain : mean over pairs; adjusted : where neither differs
    p_holm : of the adjusted effect, corrected over the attributes of the model, δ by itself
    """

    model: Annotated[str, Shown("Model")]
    name: Annotated[str, Shown("Attribute or δ")]
    plain: Annotated[float, Shown("As it is", 4, signed=True)]
    adjusted: Slope
    p_holm: float


@dataclass(frozen=True)
class ControlNull:
    """δ between guises that are none: exchanged pairs, or random halves of the second variety."""

    model: Annotated[str, Shown("Model")]
    name: Annotated[str, Shown("Placebo", name="placebo")]
    mean: Annotated[float, Shown("Mean", 3, signed=True)]
    sd: Annotated[float, Shown("sd", 3)]
    low: float
    high: Annotated[float, Shown("to", 3, signed=True)]
    n: Annotated[int, Shown("Draws", 0)]


@dataclass(frozen=True)
class ControlAnalysis:
    """The whole analysis; `held` says what the adjusted effects hold constant."""

    options: GuiseOptions
    subject: str
    chosen: tuple[str, ...]
    held: tuple[str, ...]
    lines: tuple[ControlLine, ...]
    adjusted: tuple[AdjustedLine, ...]
    nulls: tuple[ControlNull, ...]


def analyze_controls(
    runs: Sequence[ControlRun],
    attributes: Sequence[str],
    chosen: Sequence[str],
    subject: str,
    options: GuiseOptions,
) -> ControlAnalysis:
    """Return the analysis of runs with the same attributes, in alphabetical order.

    chosen : stereotypical attributes; subject : the guise that the others are controls of

    Raises ValueError where no attribute, or every one, is chosen.
    """
    weights = stereotype_weights(attributes, chosen)
    lines: list[ControlLine] = []
    adjusted: list[AdjustedLine] = []
    nulls: list[ControlNull] = []
    for model in dict.fromkeys(one.run.model for one in runs):
        mine = [one for one in runs if one.run.model == model]
        subjects = [one for one in mine if one.guise == subject]
        if not subjects:
            continue
        groups = [(subject, SUBJECT, [one.run for one in subjects])]
        groups += [
            (guise, CONTROL, [one.run for one in mine if one.guise == guise])
            for guise in dict.fromkeys(one.guise for one in mine if one.guise != subject)
        ]
        groups += [(name, MATCHED, some) for name, some in _matched(subjects)]
        lines += [
            _line(model, guise, kind, some, groups[0][2], attributes, weights, options)
            for guise, kind, some in groups
        ]
        adjusted += _adjusted(model, subjects, attributes, weights, options)
        nulls += _nulls(model, subjects, weights, options)
    known = [one for one in runs if one.guise == subject]
    return ControlAnalysis(
        options,
        subject,
        tuple(name for name in attributes if name in set(chosen)),
        _held(known),
        tuple(lines),
        tuple(adjusted),
        tuple(nulls),
    )


def _held(runs: Sequence[ControlRun]) -> tuple[str, ...]:
    if all(one.surprisal is not None for one in runs):
        return ("number of tokens", "log probability of a token")
    return ("number of words",)


def _covariates(one: ControlRun, held: Sequence[str]) -> Floats:
    if len(held) == 2 and one.tokens is not None and one.surprisal is not None:
        return np.column_stack([one.tokens, one.surprisal])
    return np.asarray(one.lengthening, dtype=float)[:, None]


def _cell(runs: Sequence[GuiseRun], options: GuiseOptions) -> GuiseCell:
    return guise_cells(runs, options)[0]


def _line(
    model: str,
    guise: str,
    kind: str,
    runs: Sequence[GuiseRun],
    subject: Sequence[GuiseRun],
    attributes: Sequence[str],
    weights: Floats,
    options: GuiseOptions,
) -> ControlLine:
    n_pairs = sum({run.texts: run.n_texts for run in runs}.values())
    if not n_pairs:
        why = no_estimate(UndefinedReason.NO_PAIR)
        return ControlLine(model, guise, kind, why, 0, np.nan, (), why, np.nan, "")
    cell, whole = _cell(runs, options), _cell(subject, options)
    value = float(cell.q @ weights)
    (ours,) = fit_scores(
        runs, [value], options.level, n=n_pairs, why_no_pairs=cell.why_no_pairs, contrast=weights
    )
    if kind == SUBJECT:
        difference = no_estimate("it is the subject itself")
    else:
        difference = fit_difference(
            subject,
            runs,
            float(whole.q @ weights) - value,
            options.level,
            n=n_pairs,
            contrast=weights,
            why_not=whole.why_no_pairs or cell.why_no_pairs or (PART if kind == MATCHED else ""),
        ).estimate
    ranking = rank_attributes(dict(zip(attributes, cell.q, strict=True)))
    return ControlLine(
        model,
        guise,
        kind,
        ours.estimate,
        n_pairs,
        kendall_tau_b(whole.q, cell.q).value,
        tuple(ranking[:5]),
        difference,
        ours.p_value,
        ours.question,
    )


def _matched(runs: Sequence[ControlRun]) -> list[tuple[str, list[GuiseRun]]]:
    """Return the subject's pairs of equal length, and the half that is most alike in surprisal."""
    if not all(one.run.paired for one in runs):
        return []
    found = [("pairs of equal length", [_subset(one, one.lengthening == 0) for one in runs])]
    if all(one.surprisal is not None for one in runs):
        alike = []
        for one in runs:
            gaps = np.abs(np.asarray(one.surprisal, dtype=float))
            alike.append(_subset(one, gaps <= np.nanmedian(gaps)))
        found.append(("half of the pairs, the most alike in perplexity", alike))
    return found


def _subset(one: ControlRun, kept: Floats) -> GuiseRun:
    run, places = one.run, np.flatnonzero(kept)
    name = f"{run.texts}/{len(places)}/{int(places.sum())}"
    return replace(run, first=run.first[:, places], second=run.second[:, places], texts=name)


def _adjusted(
    model: str,
    runs: Sequence[ControlRun],
    attributes: Sequence[str],
    weights: Floats,
    options: GuiseOptions,
) -> list[AdjustedLine]:
    """Return δ and every attribute, each pair's mean over prompts regressed on what differs."""
    runs = list({one.run.texts: one for one in runs}.values())  # each text counts once
    tables = [pair_table([one.run]) for one in runs]
    known = [table for table in tables if table is not None]
    if len(known) < len(runs):
        return []
    held = _held(runs)
    covariates = np.concatenate([_covariates(one, held) for one in runs])
    ratios = np.concatenate(
        [mean_of_known(table.values, axis=0) for table in known]
    )  # (n_pairs, n_attributes)
    quantities = [("δ", ratios @ weights), *zip(attributes, ratios.T, strict=True)]
    adjusted = [
        robust_intercept(values, covariates, level=options.level) for _, values in quantities
    ]
    corrected = [adjusted[0].p_value, *holm_correction([one.p_value for one in adjusted[1:]])]
    return [
        AdjustedLine(
            model,
            name,
            float(np.nanmean(values)) if not np.isnan(values).all() else np.nan,
            found,
            float(p),
        )
        for (name, values), found, p in zip(quantities, adjusted, corrected, strict=True)
    ]


def _nulls(
    model: str,
    runs: Sequence[ControlRun],
    weights: Floats,
    options: GuiseOptions,
) -> list[ControlNull]:
    found = []
    own = [one.run for one in runs]
    paired = options.matching == "meaning_matched" and all(run.paired for run in own)
    if paired and min(run.n_texts for run in own) >= LEAST_PAIRS:
        how = {"n_placebos": options.n_resamples, "seed": options.seed}
        placebos = [(run.prompts, placebo_scores(run, **how)) for run in own]
        name = "guises of every pair exchanged at random"
        values = mean_over_prompts(stack_prompts(placebos)[1]) @ weights
        found.append(_null(model, name, values, options))
    halves = _halves(own, weights, options)
    if halves is not None:
        name = f"random halves of {runs[0].other} against each other"
        found.append(_null(model, name, halves, options))
    return found


def _halves(runs: Sequence[GuiseRun], weights: Floats, options: GuiseOptions) -> Floats | None:
    """Return δ between random halves of the second variety, pooled, (n_halves,).

    A half has half as many texts as the sets that are compared, so that its δ scatters more than
    that of whole sets: by √2 for halves of n against sets of n, which is taken out.
    """
    drawn = []
    for run in runs:
        n = run.second.shape[1]
        if n < 2 * LEAST_PAIRS:
            return None
        rng = named_stream(options.seed, "halves", run.texts)
        unit = np.log(10.0) if run.base == "10" else 1.0
        values = []
        for _ in range(min(N_HALVES, options.n_resamples)):
            order = rng.permutation(n)
            sides = [run.second[:, part] for part in (order[: n // 2], order[n // 2 :])]
            q = (log_mean_exp(sides[0]) - log_mean_exp(sides[1])) / unit
            values.append(float(q.mean(axis=0) @ weights) / np.sqrt(2))
        drawn.append(values)
    return np.mean(drawn, axis=0)


def _null(model: str, name: str, values: Floats, options: GuiseOptions) -> ControlNull:
    return ControlNull(
        model,
        name,
        float(np.nanmean(values)),
        float(np.nanstd(values)),
        *middle(values, options.level),
        len(values),
    )
