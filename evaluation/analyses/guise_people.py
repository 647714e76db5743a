"""People under the same guises: differences per scale, and models' matched guises beside them.

A model's score on a scale is how much likelier the first guise makes the high pole than the low
one: q(high) − q(low) (methods.md §10.2). People's is the difference of their mean ratings between
the guises. Agreement is Kendall's tau-b over scales: as observed, and with noise taken out
(`true_tau`) for each of two questions, other people about these texts and other texts like these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from evaluation.analyses.alignment_result import NoiseCeiling
from evaluation.analyses.guise_draws import (
    GuiseRun,
    mean_over_prompts,
    run_scores,
    stack_prompts,
)
from evaluation.analyses.guise_inference import fit_contrast
from evaluation.analyses.guise_ratings import (
    GuiseMeans,
    GuiseRatings,
    compare_guises,
    item_differences,
    item_raters,
    person_values,
    weigh,
)
from evaluation.analyses.noise_ceiling import no_ceiling, random_halves
from evaluation.analyses.resample_options import ResamplingOptions
from evaluation.analyses.tau_answers import Answer
from evaluation.analyses.true_tau import true_tau
from evaluation.metrics import (
    UndefinedReason,
    kendall_tau_b,
    kendall_tau_b_batch,
    no_interval,
    tau_over_scales,
)
from evaluation.metrics.draws import middle
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.holm import correct_rows
from evaluation.metrics.rank_correlation import MINIMUM_PAIRS
from evaluation.metrics.shown import Shown
from probing.measures.streams import named_stream


@dataclass(frozen=True)
class GuisePeopleOptions(ResamplingOptions):
    """Options of the analysis; see the report's parameters."""

    n_splits: int = 1000
    ceiling_share: float = 0.8


@dataclass(frozen=True)
class ScaleLine:
    """One scale: the mean of each guise, and the first less the second, in points.

    n of an estimate counts the items of which both guises were rated; n_people those who rated them
    p_value, p_holm : two-sided, of no difference, from the t of the interval; corrected over
        scales; NaN where the interval is missing
    """

    scale: str
    first: Estimate
    second: Estimate
    difference: Estimate
    n_people: int
    p_value: Annotated[float, Shown(name="p", meaning="two-sided, of no difference")]
    p_holm: Annotated[float, Shown("p (Holm)", is_p=True)]


@dataclass(frozen=True)
class ItemLine:
    """The difference between the guises of one item on one scale, in points.

    n_people : who rated the item on the scale
    """

    item: Annotated[str, Shown(name="pair", meaning="slug of the pair")]
    scale: Annotated[str, Shown(meaning="slug of the trait scale")]
    difference: Annotated[float, Shown(meaning="first guise less the second", unit="points")]
    n_people: Annotated[int, Shown("", 0, meaning="people who rated the pair on the scale")]


@dataclass(frozen=True)
class ModelScale:
    """q(high) − q(low) of a model on one scale; n = prompts, texts and prompts are samples."""

    model: Annotated[str, Shown("Model")]
    scale: Annotated[str, Shown(meaning="slug of the trait scale")]
    estimate: Estimate


@dataclass(frozen=True)
class ModelLine:
    """How a model's scores follow people's differences over scales.

    observed, p_value : tau-b as it is, interval and p for scales like these
    these_texts, other_texts : tau on these scales without the noise of people, and of people and
        texts
    reliability_people, reliability_texts : of people's differences, for either
    """

    model: Annotated[str, Shown("Model")]
    n_scales: Annotated[int, Shown("Scales", 0)]
    observed: Annotated[
        Estimate, Shown("τ as observed", 2, name="tau", meaning="tau-b over scales, noise left in")
    ]
    p_value: Annotated[float, Shown(name="p", meaning="of tau as observed, from its interval’s t")]
    these_texts: Answer
    other_texts: Answer
    reliability_people: Annotated[float, Shown(meaning="of the differences, other people")]
    reliability_texts: Annotated[float, Shown(meaning="of the differences, other texts")]


@dataclass(frozen=True)
class GuisePeople:
    """guises : the first is the one that differences are of."""

    options: GuisePeopleOptions
    guises: tuple[str, str]
    n_people: int
    n_items: int
    n_pages: int
    scales: tuple[ScaleLine, ...]
    items: tuple[ItemLine, ...]
    ceiling: NoiseCeiling
    model_scales: tuple[ModelScale, ...]
    models: tuple[ModelLine, ...]


def analyze_guise_people(
    rated: GuiseRatings,
    runs: Sequence[GuiseRun],
    poles: Mapping[str, tuple[int, int]],
    options: GuisePeopleOptions,
) -> GuisePeople:
    """Return people's differences per scale and, for each model of ``runs``, its agreement.

    runs : with one list of attributes, their first guise the first of ``rated``; runs of one model
        are averaged within each prompt
    poles : scale → places of its low and high pole among the attributes; scales without are left
        out of agreement
    """
    means = compare_guises(rated, options.level)
    names = list(dict.fromkeys(run.model for run in runs))
    scored = {name: _score(name, runs, poles, rated.scales, options) for name in names}
    halves = _halves(rated, options)
    items, raters = item_differences(rated), item_raters(rated)
    return GuisePeople(
        options=options,
        guises=(rated.guises[0], rated.guises[1]),
        n_people=len(rated.people),
        n_items=len(rated.items),
        n_pages=rated.n_pages,
        scales=tuple(_lines(rated.scales, means)),
        items=tuple(
            ItemLine(item, scale, float(items[i, s]), int(raters[i, s]))
            for i, item in enumerate(rated.items)
            for s, scale in enumerate(rated.scales)
            if not np.isnan(items[i, s])
        ),
        ceiling=halves,
        model_scales=tuple(line for lines in scored.values() for line in lines),
        models=tuple(_align(name, rated, means, lines, options) for name, lines in scored.items()),
    )


def _lines(scales: Sequence[str], found: Sequence[GuiseMeans]) -> list[ScaleLine]:
    lines = [
        ScaleLine(
            scale,
            one.first.estimate,
            one.second.estimate,
            one.difference.estimate,
            one.n_people,
            one.difference.p_value,
            np.nan,
        )
        for scale, one in zip(scales, found, strict=True)
    ]
    return correct_rows(lines, p_holm="p_value")


def _score(
    name: str,
    runs: Sequence[GuiseRun],
    poles: Mapping[str, tuple[int, int]],
    scales: Sequence[str],
    options: GuisePeopleOptions,
) -> list[ModelScale]:
    """Return a model's score on every scale that has both poles."""
    own = [run for run in runs if run.model == name]
    _, q = stack_prompts([(run.prompts, run_scores(run, "meaning_matched")) for run in own])
    whole = mean_over_prompts(q)
    found = []
    for scale in scales:
        if scale not in poles:
            continue
        low, high = poles[scale]
        value = float(whole[high] - whole[low])
        n = int((~np.isnan(q[:, high] - q[:, low])).sum())
        if np.isnan(value):
            found.append(ModelScale(name, scale, no_estimate(UndefinedReason.NO_SCORES)))
            continue
        fit = fit_contrast(own, high, low, value, options.level, n)
        found.append(ModelScale(name, scale, fit.estimate))
    return found


def _align(
    name: str,
    rated: GuiseRatings,
    means: Sequence[GuiseMeans],
    lines: Sequence[ModelScale],
    options: GuisePeopleOptions,
) -> ModelLine:
    scores = np.full(len(rated.scales), np.nan)
    for line in lines:
        scores[rated.scales.index(line.scale)] = line.estimate.value
    differences = np.array([one.difference.value for one in means])
    observed = kendall_tau_b(differences, scores)
    estimate, p_value = no_estimate(observed.reason), np.nan
    if not observed.reason:
        around, p_value = tau_over_scales(differences, scores, level=options.level)
        few = [one.difference.interval_reason for one in means if one.difference.n]
        if all(few):  # the order of too few people or texts
            around, p_value = no_interval(few[0], level=options.level), np.nan
        estimate = Estimate.within(observed.value, around, observed.n)
    # Of one group, as it were: whoever is resampled stands in the first place.
    people = true_tau(person_values(rated)[:, None, :], scores[None])
    texts = true_tau(item_differences(rated)[:, None, :], scores[None])
    return ModelLine(
        name,
        observed.n,
        estimate,
        p_value,
        people.noise_free(options.level),
        texts.noise_free(options.level),
        people.reliability,
        texts.reliability,
    )


def _halves(rated: GuiseRatings, options: GuisePeopleOptions) -> NoiseCeiling:
    """Return tau over scales between the differences of two random halves of the people."""
    n = len(rated.people)
    if n < 2:
        return no_ceiling(UndefinedReason.ONE_RATER if n else UndefinedReason.NO_RATINGS)
    if not options.n_splits:
        return no_ceiling(UndefinedReason.NOT_REQUESTED)
    rng = named_stream(options.seed, "guise ratings", "halves")
    first = random_halves(n, options.n_splits, rng).astype(float)
    items = np.ones((options.n_splits, len(rated.items)))
    profiles = [weigh(rated, half, items)[1] for half in (first, 1 - first)]
    taus = kendall_tau_b_batch(*profiles)
    shared = (~np.isnan(profiles[0]) & ~np.isnan(profiles[1])).sum(axis=1)
    found = taus[(shared >= MINIMUM_PAIRS) & ~np.isnan(taus)]
    skipped = options.n_splits - found.size
    if found.size == 0 or found.size < options.n_splits / 2:
        return no_ceiling(UndefinedReason.FEW_SPLITS, n_skipped=skipped)
    ceiling = NoiseCeiling(float(found.mean()), *middle(found, options.ceiling_share))
    return replace(
        ceiling, n_first=n // 2, n_second=n - n // 2, n_splits=int(found.size), n_skipped=skipped
    )
