"""Agreement as observed, and of one list of scales; precision without noise; mean ratings.

What is observed has the noise of the mean ratings in it. Its truth is what studies of the same
people's number, groups, scales, and model have on average, of which many are drawn once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd
from evaluation.analyses.alignment_cells import mean_precision, rating_interval
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.rating_cube import RatingCube
from evaluation.analyses.score_table import ScoreTable
from evaluation.analyses.subgroup_result import PRECISION, TAU
from evaluation.analyses.subgroups import SubgroupDraws
from evaluation.analyses.true_precision import difference as precision_difference
from evaluation.analyses.true_precision import true_precision
from evaluation.analyses.true_tau import difference as tau_difference
from evaluation.analyses.true_tau import true_tau
from evaluation.metrics import kendall_tau_b, tau_over_scales
from evaluation.metrics.estimate import Estimate
from evaluation.metrics.resampled_test import permutation_p_value
from tools.coverage.rows import Row, Study, Tested
from tools.coverage.taus import DESIGNS, LEVEL, Design

OBSERVED, OBSERVED_DIFFERENCE = (
    "τ as observed, these groups",
    "difference of τ as observed, these groups",
)
EXCHANGED, EXCHANGED_PRECISION = (
    "difference of τ between subgroups, answers exchanged",
    "difference of P@3 between subgroups, answers exchanged",
)
OF_SCALES = "τ over scales, scales like these"
PRECISION_LIKE, PRECISION_DIFFERENCE = (
    "P@3 without noise, groups like these",
    "difference of P@3 without noise, groups like these",
)
RATING, OVER_PROMPTS = "mean rating", "mean score, prompts like these"
#: Studies of which a truth is the mean, and exchanges of each.
STUDIES, RESAMPLES = 500, 400
#: Designs whose cells stay the same while people are drawn anew.
OBSERVED_IN = (
    *("8 groups, 40 people", "crossed, 30 x 8", "crossed, 10 x 12", "40 people", "20 people"),
    *("scores of 3 levels", "at the floor", "two-humped means", "crossed, 30 x 25"),
    *("unequal n", "base"),
)

Array = NDArray[np.float64]
Rng = np.random.Generator


def _models(design: Design, tau: float) -> tuple[Array, Array, Array]:
    """Return true means and scores of two models, the same in all studies of a row."""
    rng = np.random.default_rng(int(100 * tau))
    t, first = design.scored(tau, rng)
    return t, first, design.scored(tau, rng)[1] * 0.8 + 0.6 * first


@cache
def _assigned(design: Design) -> NDArray[np.bool_]:
    """Return (people, groups, 1): who rates what, the same in all studies of a row."""
    return design.assign(np.random.default_rng(2))[:, :, None]


def _rated(design: Design, t: Array, rng: Rng) -> Array:
    return np.where(_assigned(design), design.rate(t, design.people, rng)[0], np.nan)


@cache
def _expected(design: Design, tau: float) -> Array:
    """Return the tau as observed that studies of either model have on average."""
    t, *models = _models(design, tau)
    rng = np.random.default_rng(1)
    found = []
    for _ in range(STUDIES):
        human = np.nanmean(_rated(design, t, rng), axis=0).ravel()
        found.append([kendall_tau_b(human, model.ravel()).value for model in models])
    return np.mean(found, axis=0)


def _observed(design: Design, tau: float, rng: Rng) -> Study:
    """Cells and scores are the same in all studies of a row, people are others."""
    t, *models = _models(design, tau)
    ratings = _rated(design, t, rng)
    one, other = (true_tau(ratings, model) for model in models)
    first, second = _expected(design, tau)
    return {
        OBSERVED: (one.as_observed(LEVEL), first),
        OBSERVED_DIFFERENCE: (tau_difference(one, other, LEVEL)[2], first - second),
    }


def _exchanged(first: int, tau: float, rng: Rng) -> Study:
    """Two subgroups, the second twice as large, who see the groups alike."""
    design = replace(DESIGNS["crossed, 30 x 8"], people=3 * first)
    t, scores = design.scored(tau, rng)
    ratings, _ = design.ratings(t, rng)
    groups, scales = (tuple(map(str, range(n))) for n in t.shape)
    people = tuple(map(str, range(len(ratings))))
    options = AlignmentOptions(seed=int(rng.integers(2**31)), n_resamples=RESAMPLES)
    cube = RatingCube(people, groups, scales, ratings)
    draws = SubgroupDraws(cube, scores, options)
    members = np.arange(len(people)) < first
    order = draws.permutations("q", np.ones(len(people), bool))
    sides = [draws.permuted(own, order) for own in (members, ~members)]
    found = {}
    for name, quantity, of in (
        (EXCHANGED, TAU, lambda human: draws.tau(human).value),
        (EXCHANGED_PRECISION, PRECISION, draws.precision),
    ):
        means = (np.nanmean(ratings[own], axis=0) for own in (members, ~members))
        one, other = map(of, means)
        drawn = [draws.draw(quantity, side, np.ones(t.shape, bool)) for side in sides]
        p_value = permutation_p_value(one - other, drawn[0] - drawn[1])
        alone = Estimate(0.0, interval_reason="a test by itself")
        found[name] = Tested(alone, p_value), 0.0
    return found


def _scores(n: int, tau: float, levels: int, rng: Rng) -> tuple[Array, Array]:
    """Return noisy means of people and scores of a model on n scales."""
    r = np.sin(np.pi * tau / 2)
    t = rng.standard_normal(n)
    scores = r * t + np.sqrt(1 - r * r) * rng.standard_normal(n)
    if levels:
        scores = np.clip(np.round((scores + 2) / 4 * (levels - 1)), 0, levels - 1)
    return t + 0.4 * rng.standard_normal(n), scores


@cache
def _tau_of_many(tau: float, levels: int) -> float:
    """Return tau of very many scales; without a relation it is 0."""
    if not tau:
        return 0.0
    return kendall_tau_b(*_scores(100_000, tau, levels, np.random.default_rng(0))).value


def _over_scales(n: int, tau: float, levels: int, rng: Rng) -> Study:
    x, y = _scores(n, tau, levels, rng)
    value = kendall_tau_b(x, y).value
    around, p_value = tau_over_scales(x, y, level=LEVEL)
    return {OF_SCALES: (Tested(Estimate.within(value, around), p_value), _tau_of_many(tau, levels))}


POPULATION = 3_000


@cache
def _population(design: Design, tau: float) -> float:
    """Return P@3 of groups like these, of people without noise."""
    t, scores = design.scored(tau, np.random.default_rng(0), POPULATION)
    means = np.where(t > 0, 51.0, 49.0)
    return mean_precision(scores, means, AlignmentOptions())


def _precision(design: Design, tau: float, rng: Rng) -> Study:
    """Two models that follow people alike."""
    t, first = design.scored(tau, rng)
    r = np.sin(np.pi * tau / 2)
    other = design.scored(0.0, rng)[0]
    second = r * t + np.sqrt(1 - r * r) * other
    ratings, _ = design.ratings(t, rng)
    found = [true_precision(ratings, scores) for scores in (first, second)]
    shown = found[0].generalizing(LEVEL)
    return {
        PRECISION_LIKE: (shown, _population(design, tau)),
        PRECISION_DIFFERENCE: (precision_difference(found[0], found[1], LEVEL), 0.0),
    }


def _normal_ratings(rng: Rng, n: int) -> Array:
    return np.clip(np.round(rng.normal(50, 20, n)), 0, 100)


def _heaped(rng: Rng, n: int) -> Array:
    ratings = np.clip(np.round(rng.normal(55, 25, n)), 0, 100)
    return np.where(rng.random(n) < 0.5, 50 * np.round(ratings / 50), ratings)


def _floor(rng: Rng, n: int) -> Array:
    return np.clip(np.round((100 * rng.beta(0.18, 1.82, n) - 8) / 0.92), 0, 100)


def _humps(rng: Rng, n: int) -> Array:
    return np.where(rng.random(n) < 0.3, 80.0, 20.0) + np.round(
        np.clip(rng.normal(0, 6, n), -20, 20)
    )


def _skewed(rng: Rng, n: int) -> Array:
    return np.round(100 * rng.beta(1.2, 4, n))


RATINGS = {
    "normal": _normal_ratings,
    "heaped": _heaped,
    "at the floor": _floor,
    "two humps": _humps,
    "skewed": _skewed,
}


@cache
def _mean_rating(name: str) -> float:
    return float(RATINGS[name](np.random.default_rng(0), 2_000_000).mean())


def _rating(name: str, n: int, rng: Rng) -> Study:
    ratings = RATINGS[name](rng, n)
    found = Estimate.within(float(ratings.mean()), rating_interval(ratings, LEVEL), n)
    return {RATING: (Tested(found), _mean_rating(name))}


def _prompts(n: int, skewed: bool, rng: Rng) -> Study:
    values = rng.gamma(3.0, size=n) if skewed else 3 + rng.standard_normal(n)
    rows = pd.DataFrame({"group": "g", "scale": "s", "value": values})
    table = ScoreTable.from_long(rows, level=LEVEL)
    ends = [
        np.nan if frame is None else frame.to_numpy()[0, 0] for frame in (table.low, table.high)
    ]
    found = Estimate(float(values.mean()), float(ends[0]), float(ends[1]), n)
    return {OVER_PROMPTS: (Tested(found), 3.0)}


def list_rows() -> Iterator[Row]:
    """Return the rows of what is observed, of scales, of precision, and of mean ratings."""
    for name in OBSERVED_IN:
        for tau in (0.2, 0.7):
            yield Row(
                f"{name}, observed, τ {tau:.2f}",
                (OBSERVED, OBSERVED_DIFFERENCE),
                partial(_observed, DESIGNS[name], tau),
            )
    for first in (10, 20):
        for tau in (0.0, 0.7):
            yield Row(
                f"{first} and {2 * first} people alike, τ {tau:.2f}",
                (EXCHANGED, EXCHANGED_PRECISION),
                partial(_exchanged, first, tau),
            )
    for n in (9, 10, 12, 16, 30):
        for tau in (0.0, 0.3, 0.7):
            for levels in (0, 5):
                of = f", scores of {levels} levels" if levels else ""
                yield Row(
                    f"{n} scales, τ {tau:.2f}{of}",
                    (OF_SCALES,),
                    partial(_over_scales, n, tau, levels),
                    thin=(n, tau, levels) == (16, 0, 0),
                )
    for name in (
        "8 groups, 40 people",
        "40 people",
        "crossed, 30 x 8",
        "crossed, 10 x 12",
        "8 groups",
    ):
        for tau in (0.0, 0.35, 0.7):
            yield Row(
                f"{name}, τ {tau:.2f}",
                (PRECISION_LIKE, PRECISION_DIFFERENCE),
                partial(_precision, DESIGNS[name], tau),
            )
    for name in RATINGS:
        for n in (9, 10, 20, 60):
            yield Row(
                f"{name}, {n} ratings",
                (RATING,),
                partial(_rating, name, n),
                thin=(name, n) == ("skewed", 20),
            )
    for n in (5, 6, 10, 30):
        for skewed in (False, True):
            of = "skewed" if skewed else "normal"
            yield Row(f"{of}, {n} prompts", (OVER_PROMPTS,), partial(_prompts, n, skewed))
