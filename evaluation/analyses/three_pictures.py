"""One model, three pictures: what it says of groups by name, what it says of the speakers of texts
that name no group, and what people say of both, on the same scales.

A picture is one difference for every scale, the first group or guise less the second. Units differ
between pictures, so that only sides and order are compared: Kendall's τ-b over scales. Source: the
comparison of covert and overt stereotypes by Hofmann et al. (2024), on the scales of Cao et al.
(2022); the pictures of people are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd, stats
from evaluation.analyses.guise_cells import GuiseCell
from evaluation.analyses.guise_inference import excludes_zero, tests_disagree
from evaluation.analyses.guise_ratings import (
    FEWEST_PEOPLE,
    GuiseRatings,
    draw_guises,
    weigh,
    why_too_few,
)
from evaluation.analyses.noise_ceiling import random_halves
from evaluation.analyses.rating_cube import RatingCube
from evaluation.analyses.resample_options import ResamplingOptions
from evaluation.analyses.tau_answers import Answer
from evaluation.metrics.draws import draw_counts
from evaluation.metrics.estimate import Estimate, no_estimate
from evaluation.metrics.holm import holm_correction
from evaluation.metrics.interval import bias_corrected_interval, bias_corrected_p_value
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
    """Differences on every scale, with resamples of what the picture rests on.

    difference : (n_scales,), NaN = missing; draws : (n_resamples, n_scales)
    n : (n_scales,) prompts or people; few : why there is no interval with one of them
    too_few : (n_scales,) why there is none on a scale whatever n is, empty where there is one
    ceiling : τ between pictures by random halves of the people, NaN for a model
    """

    name: str
    difference: Floats
    draws: Floats
    n: NDArray[np.int_]
    few: str
    ceiling: float = np.nan
    too_few: tuple[str, ...] = ()

    def estimates(self, level: float) -> list[Estimate]:
        found = []
        too_few = self.too_few or [""] * len(self.difference)
        for value, drawn, n, why in zip(
            self.difference, self.draws.T, self.n, too_few, strict=True
        ):
            if np.isnan(value):
                found.append(no_estimate(UndefinedReason.NO_VALUES))
                continue
            if n < 2 or why:
                reason = self.few if n < 2 else why
                found.append(Estimate(float(value), n=int(n), interval_reason=reason))
                continue
            around = bias_corrected_interval(value, drawn, level=level)
            found.append(Estimate.within(value, around, int(n)))
        return found


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

    opposite : by name and of speakers its intervals lie on different sides of zero
    prompt_p, prompt_p_holm : the t-test that takes prompts for independent, of the covert picture
    p_value : two-sided, from the resamples of the covert interval; NaN without one
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
    """

    picture: Picture
    by_prompt: Floats


def score_picture(
    scores: pd.DataFrame,
    groups: tuple[str, str],
    scales: Sequence[str],
    options: PictureOptions,
) -> Picture:
    """Return what scores say of the first group less what they say of the second.

    scores : columns group, scale, template, value; a template counts where it scores both groups
    Templates are resampled.
    """
    first, second = (
        scores[scores["group"] == group]
        .pivot_table(index="template", columns="scale", values="value", dropna=False)
        .reindex(columns=list(scales))
        for group in groups
    )
    templates = [name for name in first.index if name in second.index]
    table = (first.loc[templates] - second.loc[templates]).to_numpy(dtype=float)
    rng = named_stream(options.seed, "three pictures", "templates")
    return Picture(
        MODEL_GROUPS,
        weighted_mean_of_known(table, np.ones((1, len(templates))))[0],
        weighted_mean_of_known(table, draw_counts(rng, len(templates), options.n_resamples)),
        (~np.isnan(table)).sum(axis=0),
        UndefinedReason.ONE_PROMPT,
    )


def covert_picture(
    cell: GuiseCell, attributes: Sequence[str], poles: Sequence[tuple[str, str]]
) -> CovertPicture:
    """Return q of the high pole less q of the low one, for every scale.

    poles : low and high attribute of each scale, all among ``attributes``
    """
    low, high = ([attributes.index(pair[end]) for pair in poles] for end in (0, 1))

    def contrast(values: Floats) -> Floats:
        return np.asarray(values[..., high] - values[..., low])

    by_prompt = contrast(cell.by_prompt)
    return CovertPicture(
        Picture(
            MODEL_SPEAKERS,
            contrast(cell.q),
            contrast(cell.drawn),
            (~np.isnan(by_prompt)).sum(axis=0),
            UndefinedReason.ONE_PROMPT,
        ),
        by_prompt,
    )


def rated_groups_picture(cube: RatingCube, options: PictureOptions) -> Picture:
    """Return how differently people rated two groups. People are resampled.

    cube : ratings of the two groups, the first less the second
    """
    values = cube.values[(cube.rated.any(axis=(1, 2)))]
    rng = named_stream(options.seed, "three pictures", "people")

    def differences(weights: Floats) -> Floats:
        means = [weighted_mean_of_known(values[:, place], weights) for place in (0, 1)]
        return means[0] - means[1]

    n_people = (~np.isnan(values)).any(axis=1).sum(axis=0)
    return Picture(
        PEOPLE_GROUPS,
        differences(np.ones((1, len(values))))[0],
        differences(draw_counts(rng, len(values), options.n_resamples)),
        n_people,
        UndefinedReason.ONE_RATER,
        _ceiling(differences, len(values), options),
        tuple(
            str(UndefinedReason.FEW_RATERS if n < FEWEST_PEOPLE else UndefinedReason.NONE)
            for n in n_people
        ),
    )


def rated_speakers_picture(rated: GuiseRatings, options: PictureOptions) -> Picture:
    """Return how differently people rated the speakers of two guises. People and texts are
    resampled.
    """
    found = draw_guises(rated, n_resamples=options.n_resamples, seed=options.seed)

    def differences(weights: Floats) -> Floats:
        return weigh(rated, weights, np.ones((len(weights), len(rated.items))))[1]

    return Picture(
        PEOPLE_SPEAKERS,
        found.difference,
        found.difference_draws,
        found.n_people,
        UndefinedReason.ONE_RATER,
        _ceiling(differences, len(rated.people), options),
        tuple(why_too_few(found)),
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
    estimates = {one.name: one.estimates(options.level) for one in pictures}
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
    estimates: Mapping[str, list[Estimate]],
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
            np.nan if np.isnan(spoken.low) else bias_corrected_p_value(spoken.value, drawn),
        )
        for place, (scale, named, spoken, drawn) in enumerate(
            zip(
                scales,
                estimates[MODEL_GROUPS],
                estimates[MODEL_SPEAKERS],
                covert.picture.draws.T,
                strict=True,
            )
        )
    )


def _on_opposite_sides(first: Estimate, second: Estimate) -> bool:
    signs = first.value * second.value
    return bool(signs < 0 and excludes_zero(first) and excludes_zero(second))


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
