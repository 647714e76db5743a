"""What people say of the speakers of texts in two varieties, and how it differs between guises.

Nobody rates two guises of one text, so a difference is one between the means of different people
over the same item, and the mean of these differences over items (Lambert et al. 1960 compared the
guises of one speaker alike). People and texts are both samples (`compare_guises`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.tau_answers import Answer, student_answer
from evaluation.metrics.few_units import LEAST_RATINGS, LEAST_UNITS
from evaluation.metrics.known_values import quotient
from evaluation.metrics.undefined import UndefinedReason

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

NO_PAIR = UndefinedReason.NO_PAIR
FEW_ITEMS = "an interval needs at least five pairs of which both texts were rated"
FEW_RATERS = "an interval needs ratings of at least ten people, and two of a text on average"

# Weights of this many pages are held at once: 16 MB.
_AT_ONCE = 2_000_000


@dataclass(frozen=True)
class GuiseRatings:
    """Ratings by page: one person about the speaker of one text on every scale.

    people, items, guises, scales : names; guises are varieties, the one asked about first
    person, item, guise : (n_pages,) places in these
    values : (n_pages, n_scales), 0 to 100 in the scale's own direction, NaN = not rated
    """

    people: tuple[str, ...]
    items: tuple[str, ...]
    guises: tuple[str, ...]
    scales: tuple[str, ...]
    person: Indices
    item: Indices
    guise: Indices
    values: Floats

    @property
    def n_pages(self) -> int:
        return int(self.person.size)

    @property
    def cube(self) -> Floats:
        """The ratings as (n_people, n_items, n_guises, n_scales), NaN = not rated."""
        shape = (len(self.people), len(self.items), len(self.guises), len(self.scales))
        filled = np.full(shape, np.nan)
        filled[self.person, self.item, self.guise] = self.values
        return filled


@dataclass(frozen=True)
class GuiseMeans:
    """One scale: the mean of each guise, and the first less the second, in points.

    items count where both guises were rated, each the same; n of an answer = items
    n_people : those who rated them
    """

    first: Answer
    second: Answer
    difference: Answer
    n_people: int


def build_guise_ratings(
    rows: Iterable[tuple[str, str, str, str, str, float]],
    *,
    guises: Sequence[str],
    scales: Sequence[str],
) -> GuiseRatings:
    """Return ratings by page.

    rows : submission, text, item, variety, scale, value (`annotation.studies.guise_ratings`); those
        of other varieties or scales are left out
    guises : two varieties; differences are the first less the second

    Raises ValueError for anything but two varieties, and where one person rated two texts of an
    item: such a person knows what is compared.
    """
    if len(set(guises)) != 2 or len(guises) != 2:
        raise ValueError(f"{len(guises)} varieties are given, expected two different ones")
    columns = {scale: place for place, scale in enumerate(scales)}
    pages: dict[tuple[str, str], tuple[str, str, Floats]] = {}
    for submission, text, item, variety, scale, value in rows:
        if variety not in guises or scale not in columns:
            continue
        empty = np.full(len(scales), np.nan)
        known, _variety, values = pages.setdefault((submission, item), (text, variety, empty))
        if known != text:
            raise ValueError(f"submission {submission} rated two guises of {item}")
        values[columns[scale]] = value
    people = tuple(dict.fromkeys(submission for submission, _item in pages))
    items = tuple(sorted({item for _submission, item in pages}))
    person_at = {name: place for place, name in enumerate(people)}
    item_at = {name: place for place, name in enumerate(items)}
    return GuiseRatings(
        people=people,
        items=items,
        guises=tuple(guises),
        scales=tuple(scales),
        person=np.array([person_at[one] for one, _item in pages], dtype=np.intp),
        item=np.array([item_at[item] for _one, item in pages], dtype=np.intp),
        guise=np.array([guises.index(page[1]) for page in pages.values()], dtype=np.intp),
        values=np.array([page[2] for page in pages.values()]).reshape(len(pages), len(scales)),
    )


def compare_guises(rated: GuiseRatings, level: float) -> list[GuiseMeans]:
    """Return for every scale the means and their difference, for people and items like these.

    Items and people are crossed. What each person adds is known within texts, from the deviations
    r of ratings from their text's mean (widened by √(n / (n − 1))); what the items add, from how
    the items differ, less what single ratings contribute to that:

        v = Σ_people (Σ u)² + max(0, s²(items) / I − Σ u²),  u = ± r / (I n)

    after the two-way clustered variance of Cameron, Gelbach and Miller (2011), whose part of the
    people is never dropped. Student's t, degrees of freedom after Satterthwaite (1946).
    """
    both = _both_rated(rated)
    found = []
    for place in range(len(rated.scales)):
        there = ~np.isnan(rated.values[:, place]) & both[rated.item, place]
        person, item, guise = rated.person[there], rated.item[there], rated.guise[there]
        pages = _Pages(person, 2 * item + guise, rated.values[there, place])
        n_people = np.unique(person).size
        first, second, difference = (
            pages.answer(np.array(one), level) for one in ((1.0, 0.0), (0.0, 1.0), (1.0, -1.0))
        )
        found.append(GuiseMeans(first, second, difference, n_people))
    return found


class _Pages:
    """Ratings of one scale: whose, of which text (2 · item + guise), and what."""

    def __init__(self, person: Indices, text: Indices, values: Floats) -> None:
        self.person, self.n_people = _numbered(person)
        texts = np.unique(text)
        self.text, self.guise = np.searchsorted(texts, text), text % 2
        self.n = np.bincount(self.text, minlength=texts.size).astype(float)
        self.means = np.bincount(self.text, values, texts.size) / np.maximum(self.n, 1)
        self.values = values

    def answer(self, contrast: Floats, level: float) -> Answer:
        by_item = self.means.reshape(-1, 2) @ contrast
        n_items = by_item.size
        if not n_items:
            return Answer(np.nan, reason=NO_PAIR, interval_reason=UndefinedReason.NO_ESTIMATE)
        value = float(by_item.mean())
        if why := self._too_few(n_items):
            return Answer(value, n=n_items, interval_reason=why)
        n = self.n[self.text]
        residual = (self.values - self.means[self.text]) * np.sqrt(n / np.maximum(n - 1, 1))
        u = contrast[self.guise] * residual / n / n_items
        of_people = float(np.sum(np.bincount(self.person, u, self.n_people) ** 2))
        of_items, of_pages = float(by_item.var(ddof=1)) / n_items, float(u @ u)
        v, spread = of_people, of_people**2 / (self.n_people - 1)
        if of_items > of_pages:
            v += of_items - of_pages
            spread += of_items**2 / (n_items - 1) + of_pages**2 / (u.size - self.n.size)
        df = max(v**2 / spread if spread else 0.0, min(n_items, self.n_people) - 1.0)
        error = float(np.sqrt(v))
        return student_answer(value, error, n_items, level, NO_PAIR, df=df)

    def _too_few(self, n_items: int) -> str:
        if n_items < LEAST_UNITS:
            return FEW_ITEMS
        if self.n_people < LEAST_RATINGS or self.n.mean() < 2:
            return FEW_RATERS
        return UndefinedReason.NONE


def _numbered(names: Indices) -> tuple[Indices, int]:
    known, numbers = np.unique(names, return_inverse=True)
    return numbers, known.size


def weigh(rated: GuiseRatings, people: Floats, items: Floats) -> tuple[Floats, Floats]:
    """Return means per guise and their differences under weights of people and of items.

    people : (n, n_people); items : (n, n_items); not negative

    returns : (n, 2, n_scales) and (n, n_scales); an item counts where both of its guises have
        weight, NaN where none has
    """
    n, n_scales = len(people), len(rated.scales)
    means, differences = np.full((n, 2, n_scales), np.nan), np.full((n, n_scales), np.nan)
    at_once = max(_AT_ONCE // max(rated.n_pages, 1), 1)
    for start in range(0, n, at_once):
        block = slice(start, start + at_once)
        weights = people[block][:, rated.person]
        for scale in range(n_scales):
            cells = _cell_means(rated, weights, scale)
            counted = items[block] * ~np.isnan(cells).any(axis=1)
            total = counted.sum(axis=1)
            sums = np.einsum("ni,ngi->ng", counted, np.nan_to_num(cells))
            found = quotient(sums, total[:, None])
            means[block, :, scale] = found
            differences[block, scale] = found[:, 0] - found[:, 1]
    return means, differences


def item_differences(rated: GuiseRatings) -> Floats:
    """Return (n_items, n_scales) differences between the guises of each item, NaN without both."""
    weights = np.ones((1, rated.n_pages))
    cells = [_cell_means(rated, weights, scale)[0] for scale in range(len(rated.scales))]
    return np.array([cell[0] - cell[1] for cell in cells]).T.reshape(len(rated.items), -1)


def item_raters(rated: GuiseRatings) -> NDArray[np.intp]:
    """Return (n_items, n_scales) people who rated an item on a scale, in whichever guise."""
    counts = np.zeros((len(rated.items), len(rated.scales)), dtype=np.intp)
    np.add.at(counts, rated.item, ~np.isnan(rated.values))
    return counts


def person_values(rated: GuiseRatings) -> Floats:
    """Return what each person adds to the differences: (n_people, n_scales), NaN for nothing.

    Jackknife pseudo-values (Tukey 1958) in their linear form: their mean over people is the
    difference, and their spread says how far other people would move it. Deviations from the mean
    of n ratings of a text are widened by √(n / (n − 1)), since each has helped to make that mean.
    """
    n_people, n_scales = len(rated.people), len(rated.scales)
    found = np.full((n_people, n_scales), np.nan)
    sign = np.where(rated.guise == 0, 1.0, -1.0)
    both = _both_rated(rated)
    whole = weigh(rated, np.ones((1, n_people)), np.ones((1, len(rated.items))))[1][0]
    cell = rated.item * 2 + rated.guise
    for scale in range(n_scales):
        there = ~np.isnan(rated.values[:, scale]) & both[rated.item, scale]
        if not there.any():
            continue
        at, given = cell[there], rated.values[there, scale]
        n = np.bincount(at, minlength=2 * len(rated.items))
        sums = np.bincount(at, weights=given, minlength=n.size)
        residual = given - sums[at] / n[at]
        widened = residual * np.sqrt(n[at] / np.maximum(n[at] - 1, 1))
        share = sign[there] * widened / n[at] / both[:, scale].sum()
        moved = np.bincount(rated.person[there], weights=share, minlength=n_people)
        raters = np.unique(rated.person[there])
        found[raters, scale] = whole[scale] + moved[raters] * raters.size
    return found


def _both_rated(rated: GuiseRatings) -> NDArray[np.bool_]:
    """Return (n_items, n_scales): whether both guises of an item were rated."""
    counts = np.zeros((len(rated.items), 2, len(rated.scales)))
    np.add.at(counts, (rated.item, rated.guise), ~np.isnan(rated.values))
    return np.asarray((counts > 0).all(axis=1))


def _cell_means(rated: GuiseRatings, weights: Floats, scale: int) -> Floats:
    """Return weighted means of one scale by guise and item, (n, 2, n_items), NaN without weight."""
    n_items = len(rated.items)
    values = rated.values[:, scale]
    there = ~np.isnan(values)
    order = np.argsort(rated.guise[there] * n_items + rated.item[there], kind="stable")
    cell = (rated.guise[there] * n_items + rated.item[there])[order]
    given, used = values[there][order], weights[:, there][:, order]
    found = np.full((len(weights), 2 * n_items), np.nan)
    if cell.size:
        cells, starts = np.unique(cell, return_index=True)
        count = np.add.reduceat(used, starts, axis=1)
        total = np.add.reduceat(used * given, starts, axis=1)
        found[:, cells] = quotient(total, count)
    return found.reshape(len(weights), 2, n_items)
