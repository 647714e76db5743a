"""One model, three pictures: what it says of groups by name, what it says of the speakers of texts
that name no group, and what people say of both, on the same scales.

A picture is one difference for every scale, the first group or guise less the second. Units differ
between pictures, so that only sides and order are compared: Kendall's τ-b over scales. Source: the
comparison of covert and overt stereotypes by Hofmann et al. (2024), on the scales of Cao et al.
(2022); the pictures of people are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd, stats
from evaluation.analyses.alignment_cells import rating_interval
from evaluation.analyses.guise_cells import GuiseOptions, guise_cells
from evaluation.analyses.guise_draws import GuiseRun
from evaluation.analyses.guise_inference import excludes_zero, fit_contrast, tests_disagree
from evaluation.analyses.guise_ratings import GuiseRatings, compare_guises, weigh
from evaluation.analyses.noise_ceiling import random_halves
from evaluation.analyses.rating_cube import RatingCube
from evaluation.analyses.resample_options import ResamplingOptions
from evaluation.analyses.tau_answers import Answer, student_answer
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.few_units import LEAST_PROMPTS
from evaluation.metrics.holm import holm_correction
from evaluation.metrics.known_values import weighted_mean_of_known
from evaluation.metrics.rank_correlation import (
    kendall_tau_b,
    kendall_tau_b_batch,
    tau_over_scales,
)
from evaluation.metrics.shown import Shown
from evaluation.metrics.undefined import UndefinedReason
from probing.measures.streams import named_stream

Floats = NDArray[np.float64]

MODEL_GROUPS, MODEL_SPEAKERS = "model_groups", "model_speakers"
PEOPLE_GROUPS, PEOPLE_SPEAKERS = "people_groups", "people_speakers"
#: In the order in which they are shown.
PICTURES = (MODEL_GROUPS, MODEL_SPEAKERS, PEOPLE_GROUPS, PEOPLE_SPEAKERS)
#: What the report asks first: overt and covert, then model and people.
FIRST_ASKED = (
    (MODEL_GROUPS, MODEL_SPEAKERS),
    (PEOPLE_SPEAKERS, MODEL_SPEAKERS),
    (PEOPLE_GROUPS, MODEL_GROUPS),
)


@dataclass(frozen=True)
class PictureOptions(ResamplingOptions):
    """Options of the analysis; see the report's parameters."""

    n_splits: int = 1000


@dataclass(frozen=True)
class Picture:
    """Differences on every scale.

    difference : (n_scales,), NaN = missing; estimates : the same with their intervals, n = prompts,
        people, or pairs of texts
    ceiling : τ between pictures by random halves of the people, NaN for a model
    """

    name: str
    difference: Floats
    estimates: Sequence[Estimate]
    ceiling: float = np.nan


@dataclass(frozen=True)
class PictureLine:
    """One scale in one picture; rank 1 is the scale farthest toward the high word."""

    scale: str
    picture: str
    estimate: Estimate
    rank: int | None


@dataclass(frozen=True)
class ScaleLine:
    """What the pictures of a model say of one scale.

    opposite : by name and of speakers it lies on different sides of zero, by its intervals; by name
        with fewer than six prompts, as these prompts say
    prompt_p, prompt_p_holm : the t-test that takes prompts for independent, of the covert picture
    p_value : two-sided, from the t of the covert interval; NaN without one
    disagree : the t-test finds what the interval over texts and prompts does not, or the other way
    """

    scale: str
    opposite: bool
    prompt_p: Annotated[float, Shown("p (prompts)", is_p=True)]
    prompt_p_holm: Annotated[float, Shown("p (prompts, Holm)", is_p=True)]
    disagree: bool
    p_value: Annotated[float, Shown("p", name="p", is_p=True, meaning="that of the interval")]


@dataclass(frozen=True)
class PairLine:
    """Two pictures beside each other: τ over scales, for scales like these.

    n_opposite : scales whose intervals lie on different sides of zero
    ceiling : τ between pictures by halves of the people, the lower where both are of people
    """

    first: str
    second: str
    tau: Answer
    n_opposite: Annotated[int, Shown("Opposite", 0, meaning="scales on opposite sides")]
    ceiling: Annotated[float, Shown("Ceiling", 2, meaning="τ between halves of the people")]


@dataclass(frozen=True)
class ThreePictures:
    """The record of the analysis."""

    options: PictureOptions
    scales: tuple[str, ...]
    pictures: tuple[str, ...]
    lines: tuple[PictureLine, ...]
    by_scale: tuple[ScaleLine, ...]
    pairs: tuple[PairLine, ...]
    ceilings: dict[str, float]


@dataclass(frozen=True)
class CovertPicture:
    """Matched guise scores of the poles of every scale, high less low.

    picture : over texts and prompts; by_prompt : (n_prompts, n_scales)
    p_values : of the intervals
    """

    picture: Picture
    by_prompt: Floats
    p_values: Sequence[float]


def score_picture(
    scores: pd.DataFrame, groups: tuple[str, str], scales: Sequence[str], level: float
) -> Picture:
    """Return what scores say of the first group less what they say of the second.

    scores : columns group, scale, template, value; a template counts where it scores both groups
    Student's interval over templates, for templates like these.
    """
    first, second = (
        scores[scores["group"] == group]
        .pivot_table(index="template", columns="scale", values="value", dropna=False)
        .reindex(columns=list(scales))
        for group in groups
    )
    templates = [name for name in first.index if name in second.index]
    table = (first.loc[templates] - second.loc[templates]).to_numpy(dtype=float)
    difference = weighted_mean_of_known(table, np.ones((1, len(templates))))[0]
    estimates = [
        _over_prompts(value, column, level)
        for value, column in zip(difference, table.T, strict=True)
    ]
    return Picture(MODEL_GROUPS, difference, estimates)


def _over_prompts(value: float, column: Floats, level: float) -> Estimate:
    known = column[~np.isnan(column)]
    n = known.size
    if not n:
        return no_estimate(UndefinedReason.NO_VALUES)
    if n < LEAST_PROMPTS:
        return Estimate(float(value), n=n, interval_reason=UndefinedReason.FEW_PROMPTS)
    error = float(known.std(ddof=1) / np.sqrt(n))
    return student_answer(float(value), error, n, level, UndefinedReason.FEW_PROMPTS).estimate


def covert_picture(
    runs: Sequence[GuiseRun],
    attributes: Sequence[str],
    poles: Sequence[tuple[str, str]],
    level: float,
) -> CovertPicture:
    """Return q of the high pole less q of the low one, for every scale.

    runs : of one model; poles : low and high attribute of each scale, all among ``attributes``
    """
    [cell] = guise_cells(runs, GuiseOptions(level=level))
    places = [tuple(map(attributes.index, pair)) for pair in poles]
    low, high = ([pair[end] for pair in places] for end in (0, 1))
    difference = cell.q[high] - cell.q[low]
    by_prompt = cell.by_prompt[:, high] - cell.by_prompt[:, low]
    fits = [
        fit_contrast(runs, upper, lower, float(value), level, int(n))
        for (lower, upper), value, n in zip(
            places, difference, (~np.isnan(by_prompt)).sum(axis=0), strict=True
        )
    ]
    picture = Picture(MODEL_SPEAKERS, difference, [fit.estimate for fit in fits])
    return CovertPicture(picture, by_prompt, [fit.p_value for fit in fits])


def rated_groups_picture(cube: RatingCube, options: PictureOptions) -> Picture:
    """Return how differently people rated two groups, for people like these.

    cube : ratings of the two groups, the first less the second
    """
    values = cube.values[(cube.rated.any(axis=(1, 2)))]

    def differences(weights: Floats) -> Floats:
        means = [weighted_mean_of_known(values[:, place], weights) for place in (0, 1)]
        return means[0] - means[1]

    difference = differences(np.ones((1, len(values))))[0]
    return Picture(
        PEOPLE_GROUPS,
        difference,
        [
            rating_difference(value, values[..., place], options.level).estimate
            for place, value in enumerate(difference)
        ],
        _ceiling(differences, len(values), options),
    )


def rating_difference(value: float, values: Floats, level: float) -> Answer:
    """Return a difference of two mean ratings with Student's interval; n = people.

    values : (n_people, 2), NaN = not rated: by the same people, by others, or by some of both

    What a person adds, r / n of the first mean less r / n of the second, is squared and summed (r
    the deviation from the mean, widened by √(n / (n − 1))), with the degrees of freedom of the
    smaller side. Each side needs what the interval of a mean rating needs.
    """
    n_people = int((~np.isnan(values)).any(axis=1).sum())
    if np.isnan(value):
        return Answer(
            value, reason=UndefinedReason.NO_VALUES, interval_reason=UndefinedReason.NO_ESTIMATE
        )
    known = [side[~np.isnan(side)] for side in values.T]
    for side in known:
        if why := rating_interval(side, level).reason:
            return Answer(float(value), n=n_people, interval_reason=why)
    n = np.array([side.size for side in known])
    apart = np.nan_to_num(values - [side.mean() for side in known]) / np.sqrt(n * (n - 1))
    error = float(np.sqrt(np.sum((apart[:, 0] - apart[:, 1]) ** 2)))
    few, df = UndefinedReason.FEW_RATINGS, float(n.min() - 1)
    return student_answer(float(value), error, n_people, level, few, df=df)


def rated_speakers_picture(rated: GuiseRatings, options: PictureOptions) -> Picture:
    """Return how differently people rated the speakers of two guises, for people and texts like
    these; n = people.
    """
    found = compare_guises(rated, options.level)

    def differences(weights: Floats) -> Floats:
        return weigh(rated, weights, np.ones((len(weights), len(rated.items))))[1]

    return Picture(
        PEOPLE_SPEAKERS,
        np.array([one.difference.value for one in found]),
        [replace(one.difference.estimate, n=one.n_people) for one in found],
        _ceiling(differences, len(rated.people), options),
    )


def compare_pictures(
    covert: CovertPicture,
    others: Sequence[Picture],
    scales: Sequence[str],
    options: PictureOptions,
) -> ThreePictures:
    """Return every picture scale by scale, and how far each agrees with each other one."""
    known = {one.name: one for one in (covert.picture, *others)}
    pictures = [known[name] for name in PICTURES if name in known]
    estimates = {one.name: one.estimates for one in pictures}
    pairs = [
        pair for pair in FIRST_ASKED if set(pair) <= set(known)
    ]  # what else can be compared follows
    pairs += [
        pair
        for pair in combinations([one.name for one in pictures], 2)
        if set(pair) not in [set(asked) for asked in pairs]
    ]
    return ThreePictures(
        options=options,
        scales=tuple(scales),
        pictures=tuple(one.name for one in pictures),
        lines=tuple(
            PictureLine(scale, one.name, estimates[one.name][place], rank)
            for one in pictures
            for place, (scale, rank) in enumerate(zip(scales, _ranks(one), strict=True))
        ),
        by_scale=_scale_lines(covert, estimates, scales, options.level),
        pairs=tuple(
            PairLine(
                first,
                second,
                tau_of_pictures(known[first], known[second], options.level),
                sum(map(_on_opposite_sides, estimates[first], estimates[second])),
                _lower_ceiling(known[first], known[second]),
            )
            for first, second in pairs
        ),
        ceilings={one.name: one.ceiling for one in pictures if not np.isnan(one.ceiling)},
    )


def tau_of_pictures(first: Picture, second: Picture, level: float) -> Answer:
    """Return τ-b of two pictures over the scales that both have, for scales like these; n = scales.

    Interval and p leave out one scale at a time (`metrics.tau_over_scales`).
    """
    found = kendall_tau_b(first.difference, second.difference)
    if np.isnan(found.value):
        why = UndefinedReason.NO_ESTIMATE
        return Answer(np.nan, n=found.n, reason=found.reason, interval_reason=why)
    around, p_value = tau_over_scales(first.difference, second.difference, level=level)
    return Answer(
        found.value, around.low, around.high, p_value, found.n, interval_reason=around.reason
    )


def _scale_lines(
    covert: CovertPicture,
    estimates: Mapping[str, Sequence[Estimate]],
    scales: Sequence[str],
    level: float,
) -> tuple[ScaleLine, ...]:
    prompt_p = stats.ttest_1samp(covert.by_prompt, 0.0, axis=0, nan_policy="omit").pvalue
    prompt_p = np.ma.filled(np.ma.masked_invalid(prompt_p), np.nan)
    holm = holm_correction(list(prompt_p))
    return tuple(
        ScaleLine(
            scale,
            _on_opposite_sides(named, spoken),
            float(prompt_p[place]),
            float(holm[place]),
            tests_disagree(float(prompt_p[place]), spoken, level),
            covert.p_values[place],
        )
        for place, (scale, named, spoken) in enumerate(
            zip(scales, estimates[MODEL_GROUPS], estimates[MODEL_SPEAKERS], strict=True)
        )
    )


def _on_opposite_sides(first: Estimate, second: Estimate) -> bool:
    return bool(first.value * second.value < 0 and _is_clear(first) and _is_clear(second))


def _is_clear(difference: Estimate) -> bool:
    """Return whether it is known on which side it lies; of few prompts, in these prompts."""
    return excludes_zero(difference) or difference.interval_reason == UndefinedReason.FEW_PROMPTS


def _ranks(picture: Picture) -> list[int | None]:
    """Return the places from the high end; equal differences share the better one."""
    values = picture.difference
    return [None if np.isnan(one) else int((values > one).sum()) + 1 for one in values]


def _lower_ceiling(first: Picture, second: Picture) -> float:
    known = [one.ceiling for one in (first, second) if not np.isnan(one.ceiling)]
    return min(known, default=np.nan)


def _ceiling(differences: Callable[[Floats], Floats], n: int, options: PictureOptions) -> float:
    """Return the mean τ between the pictures by random halves of the people; NaN below four."""
    if n < 4:
        return np.nan
    rng = named_stream(options.seed, "three pictures", "halves")
    halves = random_halves(n, options.n_splits, rng).astype(float)
    taus = kendall_tau_b_batch(differences(halves), differences(1 - halves))
    return float(np.nanmean(taus)) if (~np.isnan(taus)).any() else np.nan
