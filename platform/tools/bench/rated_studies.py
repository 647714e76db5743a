"""Studies drawn at random whose true tau is known, made like those of people.

The shape follows the published ratings (Cao et al. 2022): spread of means and of ratings within a
cell, people who use the line differently, marks heaped at both ends and in the middle.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

N_SCALES = 16
GROUPS_EACH = 4
CENTRE, K = 50.0, 3
SPREAD_OF_MEANS = 17.0
#: Share of the variance of means and scores that the cells of one group have in common.
SHARED_BY_GROUP = 0.2
SD_PERSON, SD_PERSON_AND_GROUP, SD_RATING, SD_OF_LOG_SD = 7.5, 6.5, 20.0, 0.28
SKEW_SHAPE = 4.0
SHARE_HEAPED = 0.08

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """How many people rate four groups each, of how many, and the tau of all groups like these."""

    tau: float
    people: int = 131
    groups: int = 25


@dataclass(frozen=True)
class RatedStudy:
    """One study, and what nobody knows of a real one.

    ratings : (n_people, n_groups, n_scales), whole numbers from 0 to 100, NaN = not rated
    scores : (n_groups, n_scales), a model's
    truth : (n_groups, n_scales), in the order of the means that infinitely many people would give
    """

    ratings: Array
    scores: Array
    truth: Array


def draw_study(design: Design, rng: np.random.Generator) -> RatedStudy:
    """Return a study; cells of one group are alike in people's means and in scores.

    Means and scores are normal with the correlation that belongs to tau (Greiner's relation). A
    rating is the mean, shifted by the person and by the person about the group, with skewed noise
    whose size is the person's; some fall on 0, 50 and 100, all stay within 0 to 100.
    """
    correlation = np.sin(np.pi * design.tau / 2)
    truth, other = (_layer(design.groups, rng) for _ in range(2))
    scores = correlation * truth + np.sqrt(1 - correlation**2) * other
    shape = (design.people, design.groups, N_SCALES)
    ratings = _rate(np.broadcast_to(CENTRE + SPREAD_OF_MEANS * truth, shape), rng)
    ratings[~_assign(design, rng)] = np.nan
    return RatedStudy(ratings, scores, truth)


def true_precision(study: RatedStudy) -> Array:
    """(n_groups,) precision at 3 of the scores, were all means known."""
    above = study.truth > neutral_truth()
    order = np.argsort(study.scores, axis=1)
    top = np.take_along_axis(above, order[:, -K:], axis=1).mean(axis=1)
    bottom = 1 - np.take_along_axis(above, order[:, :K], axis=1).mean(axis=1)
    return np.asarray((top + bottom) / 2)


@cache
def neutral_truth() -> float:
    """Return where the mean rating is 50; noise that is skewed and cut off moves it a little."""
    rng = np.random.default_rng(0)
    truths = np.linspace(-0.5, 0.5, 21)
    means = [
        _rate(np.full((20_000, 1, 4), CENTRE + SPREAD_OF_MEANS * t), rng).mean() for t in truths
    ]
    return float(np.interp(CENTRE, means, truths))


def _layer(groups: int, rng: np.random.Generator) -> Array:
    own = rng.standard_normal((groups, N_SCALES))
    shared = rng.standard_normal((groups, 1))
    return np.sqrt(1 - SHARED_BY_GROUP) * own + np.sqrt(SHARED_BY_GROUP) * shared


def _rate(means: Array, rng: np.random.Generator) -> Array:
    people, groups, _ = means.shape
    person = rng.normal(0, SD_PERSON, (people, 1, 1))
    about_group = rng.normal(0, SD_PERSON_AND_GROUP, (people, groups, 1))
    size = SD_RATING * np.exp(rng.normal(0, SD_OF_LOG_SD, (people, 1, 1)))
    noise = (rng.gamma(SKEW_SHAPE, size=means.shape) - SKEW_SHAPE) / np.sqrt(SKEW_SHAPE)
    marks = means + person + about_group + size * noise
    heaped = rng.random(means.shape) < SHARE_HEAPED
    rounded = np.where(heaped, 50 * np.round(marks / 50), np.round(marks))
    return np.asarray(np.clip(rounded, 0, 100))


def _assign(design: Design, rng: np.random.Generator) -> NDArray[np.bool_]:
    """(n_people, n_groups): everybody gets the groups that have the fewest raters so far."""
    rated = np.zeros((design.people, design.groups), dtype=bool)
    for person in rated:
        ties = rng.random(design.groups)
        person[np.lexsort((ties, rated.sum(axis=0)))[:GROUPS_EACH]] = True
    return rated
