"""What people say of two guises or groups: differences per scale, and τ of them over scales."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.guise_ratings import (
    GuiseRatings,
    compare_guises,
    item_differences,
    person_values,
)
from evaluation.analyses.three_pictures import rating_difference
from evaluation.analyses.true_tau import true_tau
from evaluation.metrics import kendall_tau_b
from tools.coverage.observed import RATINGS
from tools.coverage.rows import Row, Study

GUISE_MEAN, GUISE_DIFFERENCE = "mean rating of a guise", "difference of ratings between guises"
TAU_PEOPLE, TAU_TEXTS = (
    "τ of differences between guises, other people",
    "τ of differences between guises, other texts",
)
GROUPS = "difference of ratings between groups"
#: Standard deviation of true differences over scales, in points.
SPREAD = 6.0
LEVEL, GUISES = 0.95, ("first", "second")

Array = NDArray[np.float64]
Places = NDArray[np.int64]
Rng = np.random.Generator


@dataclass(frozen=True)
class Design:
    """Who rates how many texts, and standard deviations in points.

    leaning : how people differ in what they make of the guise; own : of an item's guise
    clipped : ratings stop at 0 and 100; level : of ratings
    """

    people: int = 60
    items: int = 20
    pages: int = 10
    person: float = 10.0
    leaning: float = 6.0
    item: float = 8.0
    own: float = 5.0
    noise: float = 15.0
    level: float = 50.0
    difference: float = 0.0
    clipped: bool = False


DESIGNS = {
    "60 people, 20 pairs": Design(),
    "60 people, 20 pairs, a difference": Design(difference=5.0),
    "people and texts alike": Design(person=0, leaning=0, item=0, own=0),
    "people alike": Design(person=0, leaning=0),
    "people lean far": Design(leaning=15),
    "pairs differ far": Design(own=15),
    "10 people, 10 pairs": Design(people=10, items=10),
    "12 people, 5 pairs": Design(people=12, items=5, pages=5),
    "100 people, 5 pairs": Design(people=100, items=5, pages=5),
    "40 people, 40 pairs, 2 ratings of a text": Design(people=40, items=40, pages=4),
    "200 people, 60 pairs": Design(people=200, items=60, pages=6),
    "at the floor": Design(level=5, clipped=True),
    "two texts of a person": Design(people=100, pages=2),
}


def _assign(design: Design, rng: Rng) -> tuple[Places, Places, Places]:
    """Return person, item and guise of each page: every person rates some items, each in one."""
    shape = (design.people, design.items)
    chosen = np.argsort(rng.random(shape), axis=1)[:, : design.pages]
    person = np.repeat(np.arange(design.people), chosen.shape[1])
    return person, chosen.ravel(), rng.integers(2, size=person.size)


def _rated(
    design: Design, person: Places, item: Places, guise: Places, values: Array
) -> GuiseRatings:
    people, items = (tuple(map(str, range(n))) for n in (design.people, design.items))
    scales = tuple(map(str, range(values.shape[1])))
    return GuiseRatings(people, items, GUISES, scales, person, item, guise, values)


def _values(
    design: Design, person: Places, item: Places, guise: Places, rng: Rng
) -> tuple[Array, Array]:
    """Return the ratings of one scale, and what each item's guises add to the difference."""
    normal = rng.standard_normal
    own = design.own * normal(design.items)
    side = np.where(guise == 0, 0.5, -0.5)
    values = (
        design.level
        + (design.person * normal(design.people))[person]
        + side * (design.difference + design.leaning * normal(design.people)[person])
        + (design.item * normal(design.items))[item]
        + side * own[item]
        + design.noise * normal(item.size)
    )
    return (np.clip(values, 0, 100) if design.clipped else values), own


@cache
def _true_means(design: Design) -> tuple[float, float]:
    if not design.clipped:
        return design.level + design.difference / 2, design.level - design.difference / 2
    half = (design.leaning**2 + design.own**2) / 4
    sd = np.sqrt(design.person**2 + design.item**2 + half + design.noise**2)
    found = [
        float(
            np.clip(
                design.level + side * design.difference / 2
                + sd * np.random.default_rng(0).standard_normal(2_000_000), 0, 100
            ).mean()
        )
        for side in (1, -1)
    ]  # fmt: skip
    return found[0], found[1]


def _guises(design: Design, rng: Rng) -> Study:
    pages = _assign(design, rng)
    values, _ = _values(design, *pages, rng)
    (found,) = compare_guises(_rated(design, *pages, values[:, None]), LEVEL)
    first, second = _true_means(design)
    return {GUISE_MEAN: (found.first, first), GUISE_DIFFERENCE: (found.difference, first - second)}


def _scales(design: Design, n: int, tau: float, rng: Rng) -> Study:
    """Differences on n scales beside a model's scores, whose rank correlation is about tau."""
    true = SPREAD * rng.standard_normal(n)
    r = np.sin(np.pi * tau / 2)
    scores = r * true / SPREAD + np.sqrt(1 - r * r) * rng.standard_normal(n)
    assigned = np.random.default_rng(int(rng.integers(2**31)))
    person, item, guise = _assign(design, assigned)
    drawn = [
        _values(replace(design, difference=float(one)), person, item, guise, rng) for one in true
    ]
    values = np.column_stack([one for one, _ in drawn])
    of_items = np.column_stack([one for _, one in drawn])
    rated = _rated(design, person, item, guise, values)
    people, texts = (
        true_tau(found(rated)[:, None, :], scores[None]).noise_free(LEVEL)
        for found in (person_values, item_differences)
    )
    return {
        TAU_PEOPLE: (people, kendall_tau_b(true + of_items.mean(axis=0), scores).value),
        TAU_TEXTS: (texts, kendall_tau_b(true, scores).value),
    }


def _groups(both: int, first: int, second: int, shape: str, rng: Rng) -> Study:
    """Ratings of two groups, by some of both, and by others of either; no difference."""
    n = both + first + second
    draw = RATINGS[shape]
    own = 8 * rng.standard_normal((n, 1))
    values = np.column_stack([draw(rng, n), draw(rng, n)]) + (own if shape == "normal" else 0)
    values[both : both + first, 1] = values[both + first :, 0] = np.nan
    means = np.nanmean(values, axis=0)
    return {GROUPS: (rating_difference(float(means[0] - means[1]), values, LEVEL).estimate, 0.0)}


def list_rows() -> Iterator[Row]:
    """Return the rows of guises, of τ over their scales, and of two groups."""
    for name, design in DESIGNS.items():
        thin = name == "60 people, 20 pairs"
        yield Row(name, (GUISE_MEAN, GUISE_DIFFERENCE), partial(_guises, design), thin=thin)
    for name in ("60 people, 20 pairs", "people alike", "pairs differ far", "200 people, 60 pairs"):
        for n, tau in ((10, 0.0), (16, 0.0), (16, 0.7), (32, 0.3)):
            draw = partial(_scales, DESIGNS[name], n, tau)
            yield Row(f"{name}, {n} scales, τ {tau:.2f}", (TAU_PEOPLE, TAU_TEXTS), draw)
    for shape in RATINGS:
        for both, first, second in ((9, 0, 0), (10, 0, 0), (40, 0, 0), (0, 10, 30), (10, 10, 10)):
            name = f"{shape}, {both} people of both groups, {first} and {second} of one"
            yield Row(name, (GROUPS,), partial(_groups, both, first, second, shape))
