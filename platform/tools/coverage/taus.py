"""Tau without noise in the designs that strangers bring: who rates what, and how ratings fall.

People rate some of the groups on 16 scales; a model scores all of them. True means `t` and scores
are normal with the correlation that belongs to tau, a fifth of their variance being the group's. A
way of rating returns ratings and values in the order of the means that infinitely many people
would give, of which the truth is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.true_tau import difference, true_tau
from evaluation.metrics import kendall_tau_b
from tools.coverage.rows import Row, Study

SCALES = 16
TAUS, FEW_TAUS = (0.0, 0.2, 0.35, 0.55, 0.7), (0.2, 0.7)
LEVEL = 0.95
MOST_BIAS = 0.01
#: Groups of the population that “groups like these” is about.
POPULATION = 5_000
THESE, LIKE, DIFFERENCE, DIFFERENCE_LIKE, BETWEEN, BETWEEN_LIKE = (
    "τ without noise, these groups",
    "τ without noise, groups like these",
    "difference of τ without noise, these groups",
    "difference of τ without noise, groups like these",
    "difference of τ between subgroups, these groups",
    "difference of τ between subgroups, groups like these",
)

Array = NDArray[np.float64]
Rating = tuple[Array, Array]


def _logistic(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _plain(t: Array, people: int, rng: np.random.Generator, heaped: float = 0.08) -> Rating:
    """People shift and stretch; noise is slightly skewed; some ratings fall on 0, 50 and 100."""
    shape = (people, *t.shape)
    person, about = rng.normal(0, 7.5, (people, 1, 1)), rng.normal(0, 6.5, (*shape[:2], 1))
    size = 20 * np.exp(rng.normal(0, 0.28, (people, 1, 1)))
    ratings = 50 + 17 * t + person + about + size * (rng.gamma(4.0, size=shape) - 4) / 2
    on_marks = 50 * np.round(ratings / 50)
    ratings = np.where(rng.random(shape) < heaped, on_marks, np.round(ratings))
    return np.clip(ratings, 0, 100), t


def _heaped(t: Array, people: int, rng: np.random.Generator) -> Rating:
    return _plain(t, people, rng, heaped=0.6)


def _beta(level: float, precision: float) -> Callable[..., Rating]:
    """Return a way of rating that piles up zeros and has a long tail."""

    def rate(t: Array, people: int, rng: np.random.Generator) -> Rating:
        person, about = rng.normal(0, 0.5, (people, 1, 1)), rng.normal(0, 0.35, (people, len(t), 1))
        mean = _logistic(level + 0.9 * t + person + about)
        ends = (np.maximum(part * precision, 1e-3) for part in (mean, 1 - mean))
        return np.clip(np.round((100 * rng.beta(*ends) - 8) / 0.92), 0, 100), t

    return rate


def _camps(t: Array, people: int, rng: np.random.Generator) -> Rating:
    """Ratings near 20 or 80; two camps that differ cell by cell move many cells at once."""
    camp = np.where(rng.random((people, 1, 1)) < 0.4, 1.5, -1.0)
    leaning = rng.normal(0, 1.2, t.shape)
    high = rng.random((people, *t.shape)) < _logistic(0.9 * t + leaning * camp)
    share = 0.4 * _logistic(0.9 * t + 1.5 * leaning) + 0.6 * _logistic(0.9 * t - leaning)
    return _near(high, rng), share


def _polarized(t: Array, people: int, rng: np.random.Generator) -> Rating:
    """Ratings near 20 or 80, and nearly everybody agrees which: the means have two humps, too."""
    lean = 3 * t + rng.normal(0, 0.5, (people, 1, 1))
    return _near(rng.random((people, *t.shape)) < _logistic(lean), rng), t


def _near(high: NDArray[np.bool_], rng: np.random.Generator) -> Array:
    about = rng.normal(0, 6, (len(high), 1, 1)) + rng.normal(0, 6, high.shape)
    return np.asarray(np.round(np.where(high, 80, 20) + np.clip(about, -20, 20)))


def _uneven(t: Array, people: int, rng: np.random.Generator) -> Rating:
    """The spread of ratings differs sevenfold between cells."""
    spread = np.exp(rng.uniform(np.log(6), np.log(40), t.shape))
    noise = spread * rng.standard_normal((people, *t.shape))
    return 50 + 12 * t + rng.normal(0, 7.5, (people, 1, 1)) + noise, t


@dataclass(frozen=True)
class Design:
    """Who rates how much of what; each : groups that one person rates; levels : of the scores."""

    rate: Callable[..., Rating] = _plain
    people: int = 131
    groups: int = 25
    each: int = 4
    unequal: bool = False
    levels: int = 0

    def scored(self, tau: float, rng: np.random.Generator, groups: int = 0) -> tuple[Array, Array]:
        """Return what people's means and the model's scores are made of, (groups, scales)."""
        r = np.sin(np.pi * tau / 2)
        t, other = (_layer(groups or self.groups, rng) for _ in range(2))
        scores = r * t + np.sqrt(1 - r * r) * other
        if self.levels:
            top = self.levels - 1
            scores = np.clip(np.round((scores + 2) / 4 * top), 0, top)
        return t, scores

    def ratings(self, t: Array, rng: np.random.Generator) -> Rating:
        rated = self.assign(rng)
        ratings, means = self.rate(t, self.people, rng)
        return np.where(rated[:, :, None], ratings, np.nan), means

    def assign(self, rng: np.random.Generator) -> NDArray[np.bool_]:
        """(people, groups): the emptiest groups so far, or popular ones far more often."""
        rated = np.zeros((self.people, self.groups), bool)
        popular = np.exp(rng.normal(0, 1, self.groups))
        for person in rated:
            if self.unequal:
                share = popular / popular.sum()
                person[rng.choice(self.groups, self.each, replace=False, p=share)] = True
            else:
                person[np.lexsort((rng.random(self.groups), rated.sum(0)))[: self.each]] = True
        for group in rated.T:  # at least three raters
            while group.sum() < 3:
                group[rng.integers(self.people)] = True
        return rated


def _layer(groups: int, rng: np.random.Generator) -> Array:
    own, common = rng.standard_normal((groups, SCALES)), rng.standard_normal((groups, 1))
    return np.asarray(np.sqrt(0.8) * own + np.sqrt(0.2) * common)


_SKEWED, _FLOOR = _beta(-1.5, 2.5), _beta(-2.4, 2.0)
DESIGNS = {
    "base": Design(),
    "crossed, 30 x 8": Design(people=30, each=8, groups=8),
    "crossed, 30 x 12": Design(people=30, each=12, groups=12),
    "crossed, 30 x 25": Design(people=30, each=25),
    "unequal n": Design(unequal=True),
    "scores of 5 levels": Design(levels=5),
    "scores of 3 levels": Design(levels=3),
    "skewed": Design(_SKEWED),
    "skewed, crossed 30 x 12": Design(_SKEWED, people=30, each=12, groups=12),
    "two-humped ratings": Design(_camps),
    "two-humped ratings, crossed 30 x 12": Design(_camps, people=30, each=12, groups=12),
    "two-humped means": Design(_polarized),
    "two-humped means, crossed 30 x 12": Design(_polarized, people=30, each=12, groups=12),
    "heaped": Design(_heaped),
    "40 people": Design(people=40),
    "40 people, 5 levels": Design(people=40, levels=5),
    "8 groups": Design(groups=8),
    "8 groups, 40 people": Design(groups=8, people=40),
    "uneven spread": Design(_uneven),
    "uneven spread, unequal n": Design(_uneven, unequal=True),
    "at the floor": Design(_FLOOR),
    "skewed, 40 people": Design(_SKEWED, people=40),
    "crossed, 10 x 12": Design(people=10, each=12, groups=12),
    "20 people": Design(people=20),
}
#: Two models beside the same people.
PAIRED = ("base", "crossed, 30 x 12", "40 people", "at the floor", "8 groups")
THIN = ("8 groups, 40 people, τ .70",)


@cache
def _population(design: Design, tau: float) -> float:
    """Return tau of groups like these; of people without noise."""
    rng = np.random.default_rng(0)
    t, scores = design.scored(tau, rng, POPULATION)
    means = design.rate(t, 1, rng)[1]
    return kendall_tau_b(means.ravel(), scores.ravel()).value


def _study(design: Design, tau: float, rng: np.random.Generator) -> Study:
    t, scores = design.scored(tau, rng)
    ratings, means = design.ratings(t, rng)
    found = true_tau(ratings, scores)
    truth = kendall_tau_b(means.ravel(), scores.ravel()).value
    return {
        THESE: (found.noise_free(LEVEL), truth),
        LIKE: (found.generalizing(LEVEL), _population(design, tau)),
    }


def _compare(design: Design, tau: float, rng: np.random.Generator) -> Study:
    """Two models that follow people alike, and each other somewhat."""
    t, first = design.scored(tau, rng)
    r = np.sin(np.pi * tau / 2)
    shared = (first - r * t) / np.sqrt(1 - r * r)
    second = r * t + np.sqrt(1 - r * r) * (0.6 * shared + 0.8 * _layer(design.groups, rng))
    ratings, means = design.ratings(t, rng)
    truth = [kendall_tau_b(means.ravel(), scores.ravel()).value for scores in (first, second)]
    these, like, _ = difference(true_tau(ratings, first), true_tau(ratings, second), LEVEL)
    return {DIFFERENCE: (these, truth[0] - truth[1]), DIFFERENCE_LIKE: (like, 0.0)}


def _between(apart: float, tau: float, rng: np.random.Generator) -> Study:
    """One model beside two subgroups, 20 and 40 people, who see the groups `apart` (0 = alike)."""
    design, first = DESIGNS["crossed, 30 x 8"], 20
    t, scores = design.scored(tau, rng)
    other = np.sqrt(1 - apart**2) * t + apart * _layer(design.groups, rng)
    sides, truth = [], []
    for seen, people in ((t, first), (other, 2 * first)):
        ratings, means = replace(design, people=people).ratings(seen, rng)
        # As in a report, the ratings of everybody else are missing.
        empty = np.full((3 * first - people, *t.shape), np.nan)
        sides.append(true_tau(np.concatenate([ratings, empty]), scores))
        truth.append(kendall_tau_b(means.ravel(), scores.ravel()).value)
    these, like, _ = difference(sides[0], sides[1], LEVEL)
    r = np.sin(np.pi * tau / 2) * np.array([1.0, np.sqrt(1 - apart**2)])
    of_population = -float(np.diff(2 / np.pi * np.arcsin(r))[0])
    return {BETWEEN: (these, truth[0] - truth[1]), BETWEEN_LIKE: (like, of_population)}


def list_rows() -> Iterator[Row]:
    """Return the rows of tau: designs × taus, and pairs of models."""
    for name, design in DESIGNS.items():
        for tau in TAUS if name == "base" else FEW_TAUS:
            yield _row(f"{name}, τ {_dotted(tau)}", _study, (THESE, LIKE), design, tau)
    for name in PAIRED:
        for tau in FEW_TAUS:
            of_both = f"{name}, both τ {_dotted(tau)}"
            yield _row(of_both, _compare, (DIFFERENCE, DIFFERENCE_LIKE), DESIGNS[name], tau)
    for apart in (0.0, 0.6):
        name = f"20 and 40 people, {apart:g} apart, τ .55"
        draw = partial(_between, apart, 0.55)
        yield Row(name, (BETWEEN, BETWEEN_LIKE), draw, MOST_BIAS)


def _row(
    name: str,
    study: Callable[[Design, float, np.random.Generator], Study],
    statistics: tuple[str, ...],
    design: Design,
    tau: float,
) -> Row:
    return Row(name, statistics, lambda rng: study(design, tau, rng), MOST_BIAS, name in THIN)


def _dotted(tau: float) -> str:
    return f"{tau:.2f}".removeprefix("0")
