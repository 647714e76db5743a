"""Kendall's tau with the noise of people's means taken out, and how far it may be trusted.

The means of few ratings are noisy, and noise lowers tau. Resampling adds the same noise a second
time, so percentiles of resampled taus miss the tau that the means of infinitely many people would
give. Here every two cells are compared, x_i − x_j, with the variance v_ij that chance gives to this
difference (docs/methods/tau.md):

1. The covariance of the means' errors comes from each person's deviations (`_covariance`), so that
   crossed raters, unequal numbers, and unequal spread are in v. The variance within a cell is that
   of cells as high as it, seen without the rater in question, and the cell's own, each by its
   credibility (`_cell_variances`): in a cell that everybody rated 0 nobody's noise can be seen.
2. SIMEX in closed form (Cook and Stefanski 1994): with noise λ v added, concordant minus discordant
   pairs would be expected to be K(λ) = Σ erf((x_i − x_j) / √(2 λ v_ij)) over pairs with s_i > s_j.
   K(−1) is what is sought. K(λ) − M(λ) is extrapolated by a polynomial and M(−1) added; M is what K
   would be, were means linear in the normal scores of the model's scores with normal residuals.

Two questions are asked of it. *For these groups*: what if other people had rated them? A wild
bootstrap (Wu 1986) turns the signs of all deviations of a person. *For groups like these*: the
delete-one-group jackknife of tau (Tukey 1958), Student's t with one degree of freedom fewer than
groups; cells of one group are not independent, whole groups are. Coverage: docs/coverage.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.tau_answers import Answer, jackknife_answer, student_answer
from evaluation.metrics import UndefinedReason
from evaluation.metrics.rank_correlation import MINIMUM_PAIRS, kendall_tau_b

#: Noise added, in multiples of v; the polynomial has degree 3, or 2 with fewer cells.
LAMBDAS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0)
CELLS_FOR_CUBIC = 300
#: Raters that the (co)variance pooled over all cells counts for in each of them.
PRIOR = 4.0
#: Least v_ij as a share of the two variances alone; least residual variance as a share of all.
FLOOR = 0.02
DRAWS = 100
#: True means are a little rougher than the ones that stand in for them in the bootstrap.
WIDER = 1.06
#: Pairs that a draw looks at; of more, every second or third serves.
PAIRS_A_DRAW = 200_000
#: No interval below these: noise outweighs what is to be seen, or a few people are all there are.
LEAST_RELIABILITY = 0.5
#: The same for a difference of two taus that rest on the same people or cells.
LEAST_FOR_DIFFERENCE = 0.85
LEAST_PEOPLE = 10
#: Of a cell, on average.
LEAST_RATERS = 5
#: Nor where cells spread this unevenly, and more than this share of them have so few raters.
UNEVEN, RATERS_IF_UNEVEN, SHARE_OF_THIN_CELLS = 0.3, 8, 0.05
#: Nor where means lie in two humps: their kurtosis, 3 if they are normal and 1.8 if all heights are
#: alike, is below this. Of fewer cells it says too little.
TWO_HUMPS, CELLS_FOR_HUMPS = 1.8, 100
#: The table of K reaches so many standard errors times √2, in so many steps each.
TABLE_END, TABLE_STEPS = 8, 1000

Array = NDArray[np.float64]
NO_ARRAY: Array = np.empty(0)


@dataclass(frozen=True)
class TrueTau:
    """A tau without noise and as observed, with what their intervals are made of.

    value : without noise, -1 to 1, NaN with a reason
    observed : with the means as they are, NaN where it is undefined
    reliability : of the means of the cells, below 0 where they differ less than noise does
    flatter : the value from a polynomial of one degree less
    drawn, drawn_observed : (n_draws,) either tau of other people, about means like the estimated
        true ones
    without_group : (n_groups,) the value without each of the groups that have cells
    n_people : those with a rating
    unsure : why there is no interval, empty where there is one
    """

    value: float
    observed: float = np.nan
    reliability: float = np.nan
    flatter: float = np.nan
    drawn: Array = field(default_factory=lambda: NO_ARRAY)
    drawn_observed: Array = field(default_factory=lambda: NO_ARRAY)
    without_group: Array = field(default_factory=lambda: NO_ARRAY)
    n_people: int = 0
    reason: str = UndefinedReason.NONE
    unsure: str = UndefinedReason.NONE

    def noise_free(self, level: float) -> Answer:
        """Return tau for these groups; the interval says what other people would give."""
        return _over_people(self, level, bound=1)

    def generalizing(self, level: float) -> Answer:
        """Return tau for groups like these; the interval says what other groups would give."""
        return _over_groups(self, level, bound=1)

    def as_observed(self, level: float) -> Answer:
        """Return tau with its noise; the interval says what as many other people would give."""
        return _over_people(_noisy(self), level, bound=1)


def true_tau(values: Array, scores: Array, *, seed: int = 0) -> TrueTau:
    """Return tau between scores and the means that infinitely many people would give.

    values : (n_people, n_groups, n_scales) ratings, NaN = not rated
    scores : (n_groups, n_scales), NaN = no score; cells without a rating or score do not count
    seed : of the signs; with the same seed and people, results have the same signs

    NaN with a reason where fewer than three cells are left, means or scores are all equal, no cell
    was rated twice, or the means differ no more than noise alone would make them.
    """
    cells = _Cells.of(values, scores)
    reason = _why_no_value(cells)
    observed = kendall_tau_b(cells.means, cells.scores).value
    if reason:
        return TrueTau(np.nan, observed, n_people=cells.n_people, reason=reason)
    variances, uneven = _cell_variances(cells)
    noise, by_person = _covariance(cells, variances)
    pairs = _Pairs(cells, noise)
    reliability = pairs.at.reliability
    if not reliability > 0:
        why = UndefinedReason.ALL_NOISE
        return TrueTau(np.nan, observed, reliability, n_people=cells.n_people, reason=why)
    degree = 3 if cells.n.size >= CELLS_FOR_CUBIC else 2
    weights = np.stack([_weights(degree), _weights(degree - 1)])
    control, tables = _Control(pairs, pairs.at, weights), [_table(each) for each in weights]
    carried = [pairs.carried(table, cells.means) for table in tables]
    value, flatter = (
        pairs.scaled(float(k.sum() + m.sum())) for k, m in zip(carried, control.value, strict=True)
    )
    return TrueTau(
        value,
        observed,
        reliability,
        flatter,
        *_draw(cells, noise, by_person, pairs, control, tables[0], seed),
        _without_groups(cells, pairs, control, carried[0]),
        cells.n_people,
        unsure=_why_unsure(cells, reliability, uneven),
    )


def difference(first: TrueTau, second: TrueTau, level: float) -> tuple[Answer, Answer, Answer]:
    """Return first − second for these groups, for groups like these, and as observed.

    Both must rest on the same cells: two models beside the same people, or one model beside two
    parts of the people. What the two share (people, groups) cancels, since both have the same
    signs and miss the same group.
    """
    apart = TrueTau(
        first.value - second.value,
        first.observed - second.observed,
        flatter=first.flatter - second.flatter,
        n_people=max(first.n_people, second.n_people),
        reason=first.reason or second.reason,
        unsure=first.unsure or second.unsure,
    )
    noisy = min(first.reliability, second.reliability) < LEAST_FOR_DIFFERENCE
    if not apart.reason:
        apart = replace(
            apart,
            drawn=first.drawn - second.drawn,
            drawn_observed=first.drawn_observed - second.drawn_observed,
            without_group=first.without_group - second.without_group,
        )
    of_people = replace(apart, unsure=UndefinedReason.NOISY_DIFFERENCE) if noisy else apart
    return (
        _over_people(of_people, level, bound=2),
        _over_groups(apart, level, bound=2),
        _over_people(_noisy(apart), level, bound=2),
    )


def _noisy(found: TrueTau) -> TrueTau:
    """Return what is observed in the place of the value without noise."""
    value, why = found.observed, found.unsure or found.reason
    return replace(
        found, value=value, flatter=value, drawn=found.drawn_observed, unsure=why,
        reason=UndefinedReason.NO_VALUES if np.isnan(value) else UndefinedReason.NONE,
    )  # fmt: skip


def _over_people(found: TrueTau, level: float, bound: float) -> Answer:
    """Return the value ± t(people − 1) · error."""
    if found.reason:
        return _no_answer(found.reason)
    if found.unsure:
        return Answer(found.value, n=found.n_people, interval_reason=found.unsure)
    answer = student_answer(
        found.value, _error(found), found.n_people, level, UndefinedReason.ONE_RATER
    )
    return _cut(answer, bound)


def _error(found: TrueTau) -> float:
    """Return half the central 68 % of the draws, and how far a degree less would have led."""
    low, high = np.nanquantile(found.drawn, [0.1587, 0.8413])
    return float(np.hypot(WIDER * (high - low) / 2, found.value - found.flatter))


def _over_groups(found: TrueTau, level: float, bound: float) -> Answer:
    if found.reason:
        return _no_answer(found.reason)
    if found.unsure:
        return Answer(found.value, n=found.without_group.size, interval_reason=found.unsure)
    # People who rated all groups move them together, which leaving out groups does not show.
    return jackknife_answer(
        found.value, found.without_group, level, (-bound, bound), least_error=_error(found)
    )


def _no_answer(reason: str) -> Answer:
    return Answer(np.nan, reason=reason, interval_reason=UndefinedReason.NO_ESTIMATE)


def _cut(answer: Answer, bound: float) -> Answer:
    low, high = (float(np.clip(end, -bound, bound)) for end in (answer.low, answer.high))
    return replace(answer, low=low, high=high)


@dataclass(frozen=True)
class _Cells:
    """Cells with a rating and a score, highest score first.

    means, n, scores, group : (n_cells,) mean rating, raters, score, number of the group
    given, deviations : (n_people, n_cells) who rated what, 1 or 0; rating minus mean, 0 if none
    """

    means: Array
    n: Array
    scores: Array
    group: NDArray[np.intp]
    given: Array
    deviations: Array

    @classmethod
    def of(cls, values: Array, scores: Array) -> _Cells:
        rated = ~np.isnan(values) & ~np.isnan(scores)
        cells = np.nonzero(rated.any(axis=0))
        order = np.argsort(-scores[cells], kind="stable")
        groups, scales = (place[order] for place in cells)
        given, ratings = rated[:, groups, scales], values[:, groups, scales]
        n = given.sum(axis=0).astype(float)
        means = np.where(given, ratings, 0.0).sum(axis=0) / n
        deviations = np.where(given, ratings - means, 0.0)
        number = np.unique(groups, return_inverse=True)[1]
        return cls(means, n, scores[groups, scales], number, given.astype(float), deviations)

    @property
    def n_people(self) -> int:
        return int(self.given.any(axis=1).sum())


def _why_no_value(cells: _Cells) -> str:
    if cells.n.size < MINIMUM_PAIRS:
        return UndefinedReason.TOO_FEW
    if not (cells.n > 1).any():
        return UndefinedReason.NO_CELL_TWICE
    if np.ptp(cells.scores) == 0:
        return UndefinedReason.CONSTANT_MODEL
    return UndefinedReason.CONSTANT_HUMAN if np.ptp(cells.means) == 0 else UndefinedReason.NONE


def _why_unsure(cells: _Cells, reliability: float, uneven: float) -> str:
    """Return where simulated studies have not covered the truth 92 to 99 times in 100."""
    if cells.n_people < LEAST_PEOPLE or cells.n.mean() < LEAST_RATERS:
        return UndefinedReason.FEW_PEOPLE_FOR_TAU
    if reliability < LEAST_RELIABILITY:
        return UndefinedReason.MOSTLY_NOISE
    far = cells.means - cells.means.mean()
    if far.size >= CELLS_FOR_HUMPS and np.mean(far**4) < TWO_HUMPS * np.mean(far**2) ** 2:
        return UndefinedReason.TWO_HUMPS
    if uneven > UNEVEN and np.mean(cells.n < RATERS_IF_UNEVEN) > SHARE_OF_THIN_CELLS:
        return UndefinedReason.UNEVEN_SPREAD
    return UndefinedReason.NONE


def _cell_variances(cells: _Cells) -> tuple[Array, float]:
    """Return (n_cells,) variance of the ratings within each cell, and how unevenly cells spread.

    The latter is the variance between cells of their variance relative to that of cells as high.

    A rater's squared deviation from the mean of the *other* raters, times (n − 1)/n, has the
    variance as its expectation whatever the others said. Averaged over the ratings whose others'
    mean is alike, it says how variance depends on height. The cell's own ratings correct this by
    n A / (n A + W), A and W the variances of such squares, relative to it, between and within cells
    (Bühlmann and Straub 1970).
    """
    person, cell = np.nonzero((cells.given > 0) & (cells.n > 1))
    apart, n = cells.deviations[person, cell], cells.n
    others = cells.means[cell] - apart / (n[cell] - 1)
    squares = apart**2 * n[cell] / (n[cell] - 1)
    if not squares.any():
        return np.zeros(n.size), 0.0
    expected = _running_mean(others, squares, n.size)
    surprise = squares / expected(others) - 1
    total, several = float(np.mean(surprise**2)), n > 1
    sums = np.bincount(cell, surprise, n.size)
    # Deviations from a mean that they helped to make are correlated, their squares by 1/(n − 1)².
    products = sums**2 - np.bincount(cell, surprise**2, n.size)
    pairs = n * (n - 1)
    by_chance = total * n[several] / (n[several] - 1)
    between = float((products[several].sum() - by_chance.sum()) / pairs[several].sum())
    between = min(max(between, 0.0), total)
    weight = several * between / np.maximum(between * n + total - between, 1e-12)
    variances = expected(cells.means) * (1 + weight * sums)
    variances *= np.sum(apart**2) / np.sum((n - 1) * variances)
    return variances, between


def _running_mean(at: Array, values: Array, n_cells: int) -> Callable[[Array], Array]:
    """Return the mean of the values near each place: of a tenth of them, of 24 cells at least."""
    order = np.argsort(at, kind="stable")
    size = order.size
    width = min(int(np.ceil(max(0.1, 24 / n_cells) * size)), size)
    starts = np.unique(np.linspace(0, size - width, 4 * (size // width) + 1).astype(int))
    sums = [np.concatenate([[0.0], np.cumsum(part[order])]) for part in (at, values)]
    place, level = ((total[starts + width] - total[starts]) / width for total in sums)
    level = np.maximum(level, FLOOR * values.mean())
    place, first = np.unique(place, return_index=True)
    return lambda x: np.exp(np.interp(x, place, np.log(level[first])))


def _covariance(cells: _Cells, variances: Array) -> tuple[Array, Array]:
    """Return (n_cells, n_cells) covariance of the errors of the means, and each person's part.

    With m raters of both cells, the sum over them of products of deviations has expectation
    γ m (1 − 1/n_c − 1/n_d + m / (n_c n_d)). γ of two cells is shrunk to what all pairs of cells of
    one group, or of two groups, say together; the covariance is γ m / (n_c n_d).

    The parts, (n_people,), are what each person adds to the mean of v over all pairs of cells.
    """
    deviations, given, n = cells.deviations, cells.given, cells.n
    size = n.size
    products, both = deviations.T @ deviations, given.T @ given
    share = 1 / n
    scale = both * np.outer(share, share)
    weight = both * (1 - share[:, None] - share) + both * scale
    same = cells.group[:, None] == cells.group
    one = np.eye(size, dtype=bool)
    # Mean of v over pairs = Σ count · covariance.
    pull = np.where(one, size - 1.0, -1.0) * 2 / (size * (size - 1)) * scale / (weight + PRIOR)
    pooled, spill = np.zeros_like(products), np.zeros_like(products)
    for kind in (one, same & ~one, ~same):
        total = weight[kind].sum()
        if total > 1e-9:
            pooled[kind] = products[kind].sum() / total
            spill[kind] = PRIOR * pull[kind].sum() / total
    gamma = (products + PRIOR * pooled) / (weight + PRIOR)
    np.fill_diagonal(gamma, variances)
    pull += spill
    by_person = ((deviations @ pull) * deviations).sum(axis=1)
    expected = np.divide(weight * gamma, both, out=np.zeros_like(gamma), where=both > 0)
    by_person -= ((given @ (pull * expected)) * given).sum(axis=1)
    return gamma * scale, by_person


@dataclass(frozen=True)
class _Moments:
    """Slope of the means on the normal scores, twice the variance about it, true variance."""

    slope: float
    residual: float
    true: float
    reliability: float


class _Pairs:
    """Pairs of cells that differ in the scores, from the higher to the lower, and their noise."""

    def __init__(self, cells: _Cells, noise: Array) -> None:
        size = cells.n.size
        own = np.diag(noise)
        alone = own[:, None] + own
        v = self.every_v = np.maximum(alone - 2 * noise, FLOOR * alone)
        np.fill_diagonal(v, 0.0)
        # Equal means without noise, such as of cells on which all agree, are ties in truth.
        self.equal = (cells.means[:, None] == cells.means) & (v == 0)
        np.fill_diagonal(self.equal, False)
        self.z = _normal_scores(cells.scores)
        self.high, self.low = np.nonzero(cells.scores[:, None] > cells.scores)
        self.v = v[self.high, self.low]
        self.steps = TABLE_STEPS / np.sqrt(2 * np.maximum(self.v, 1e-12 * cells.means.var()))
        self.gap = self.z[self.high] - self.z[self.low]
        self.mean_v = float(v.sum() / (size * (size - 1)))
        self.n_untied = (size * (size - 1) - np.count_nonzero(self.equal)) // 2
        self.at = self.moments(cells.means)

    def moments(self, means: Array, noisier: float = 1.0) -> _Moments:
        observed = float(means.var(ddof=1))
        true = observed - self.mean_v * noisier / 2
        slope = float(means @ self.z) / means.size
        residual = 2 * max(true - slope**2, FLOOR * true)
        return _Moments(slope, residual, true, true / observed)

    def carried(self, table: Array, means: Array) -> Array:
        """Return what every pair adds to the weighted sum of K(λ), `table` on its grid."""
        return _look_up(table, means[self.high] - means[self.low], self.steps)

    def scaled(self, count: float) -> float:
        return float(np.clip(count / np.sqrt(float(self.high.size) * self.n_untied), -1, 1))


class _Control:
    """M(−1) less the weighted sum of M(λ), for every pair, and how it moves.

    It hardly moves with slope and residual, so that a straight line in both will do for other
    people and fewer groups.

    value : (2, n_pairs), with the weights of the polynomial and of the one of a degree less
    on_slope, on_residual : (n_pairs,) derivatives
    """

    def __init__(self, pairs: _Pairs, at: _Moments, weights: Array) -> None:
        from scipy.special import erf

        self.value = np.zeros((2, pairs.gap.size))
        self.on_slope, self.on_residual = np.zeros((2, pairs.gap.size))
        for place, lam in enumerate((-1.0, *LAMBDAS)):
            spread = 2 * (at.residual + (1 + lam) * pairs.v)
            by_slope = pairs.gap / np.sqrt(spread)
            u = at.slope * by_slope
            share = np.where(place == 0, 1.0, -weights[:, place - 1])
            self.value += share[:, None] * erf(u)
            density = share[0] * 2 / np.sqrt(np.pi) * np.exp(-(u**2))
            self.on_slope += density * by_slope
            self.on_residual -= density * u / spread


def _look_up(table: NDArray[Any], gaps: NDArray[Any], steps: NDArray[Any]) -> NDArray[Any]:
    """Return the table at each gap between two means; the gaps are overwritten."""
    place = gaps
    place *= steps
    np.clip(place, -TABLE_END * TABLE_STEPS, TABLE_END * TABLE_STEPS, out=place)
    place += TABLE_END * TABLE_STEPS + 0.5
    return np.asarray(table[place.astype(np.intp)])


def _weights(degree: int) -> Array:
    """Return the weights of the values at LAMBDAS in their least-squares polynomial's at −1."""
    powers = np.vander(LAMBDAS, degree + 1)
    return np.asarray(np.linalg.pinv(powers).T @ np.vander([-1.0], degree + 1)[0])


def _table(weights: Array) -> Array:
    """Return the weighted sum of the five K(λ), one function of D / √(2 v), on a grid."""
    from scipy.special import erf

    grid = np.linspace(-TABLE_END, TABLE_END, 2 * TABLE_END * TABLE_STEPS + 1)
    parts = zip(weights, LAMBDAS, strict=True)
    return np.asarray(sum(weight * erf(grid / np.sqrt(lam)) for weight, lam in parts))


def _draw(
    cells: _Cells,
    noise: Array,
    by_person: Array,
    pairs: _Pairs,
    control: _Control,
    table: Array,
    seed: int,
) -> tuple[Array, Array]:
    """Return (DRAWS,) both taus of other people, without noise NaN where means were all noise.

    Deviations of a person keep or change their signs together (Wu 1986), about means that have the
    spread and the tau of the estimated truth. A second set of signs draws how much noise they have.
    """
    means, n, at = cells.means, cells.n, pairs.at
    base, on_slope, on_residual = (
        float(part.sum()) for part in (control.value[0], control.on_slope, control.on_residual)
    )
    fitted = at.slope * pairs.z
    own = 2 * np.diag(noise)
    shrunk = fitted + (means - means.mean() - fitted) * np.sqrt(at.residual / (at.residual + own))
    rng = np.random.default_rng(seed)
    signs, others = rng.choice([-1.0, 1.0], (2, DRAWS, len(cells.given)))
    # Deviations of a cell sum to 0: what signs of one kind would cancel is put back.
    loose = n - (signs @ cells.given) ** 2 / n
    moved = signs @ cells.deviations / np.sqrt(n * np.maximum(loose, (n - 1) / 3 + 1e-9))
    noisier = np.clip(1 + others @ by_person / max(pairs.mean_v, 1e-300), 0.2, 2)
    step = -(-pairs.high.size // PAIRS_A_DRAW)
    high, low = pairs.high[::step], pairs.low[::step]
    share, brief = pairs.high.size / high.size, table.astype(np.float32)
    steps = pairs.steps[::step].astype(np.float32)
    drawn, observed = np.full((2, DRAWS), np.nan)
    for place, (shift, more) in enumerate(zip(moved, noisier, strict=True)):
        found = pairs.moments(shrunk + shift, more)
        other = ((shrunk + shift) / np.sqrt(more)).astype(np.float32)
        gaps = other[high]
        gaps -= other[low]
        ahead = np.count_nonzero(gaps > 0) - np.count_nonzero(gaps < 0)
        observed[place] = pairs.scaled(share * ahead)
        if found.true > 0:
            count = share * float(_look_up(brief, gaps, steps).sum())
            count += base + on_slope * (found.slope - at.slope)
            drawn[place] = pairs.scaled(count + on_residual * (found.residual - at.residual))
    return drawn, observed


def _without_groups(cells: _Cells, pairs: _Pairs, control: _Control, carried: Array) -> Array:
    """Return (n_groups,) tau without each group, its noise and its control curve as they are.

    NaN where the other groups' means are all noise, or no two of their cells differ.
    """
    at, group, means, z = pairs.at, cells.group, cells.means, pairs.z
    n_groups = int(group.max()) + 1

    of_group = (group[:, None] == np.arange(n_groups)).astype(float)

    def left(of_pairs: Array) -> Array:
        """Sum over pairs of cells neither of which is of the group; (n_cells, n_cells) summands."""
        blocks = of_group.T @ of_pairs @ of_group
        return np.asarray(
            blocks.sum() - blocks.sum(axis=0) - blocks.sum(axis=1) + blocks.diagonal()
        )

    def spread(of_pairs: Array) -> Array:
        square = np.zeros((group.size, group.size))
        square[pairs.high, pairs.low] = of_pairs
        return square

    count = left(spread(carried + control.value[0]))
    on_slope, on_residual = left(spread(control.on_slope)), left(spread(control.on_residual))
    untied = left(spread(np.ones(pairs.high.size)))
    noise, equal = left(pairs.every_v) / 2, left(pairs.equal.astype(float)) / 2
    found = np.full(n_groups, np.nan)
    for g in range(n_groups):
        kept = group != g
        x, own_z = means[kept], z[kept]
        n_pairs = x.size * (x.size - 1) // 2
        if x.size < MINIMUM_PAIRS or not untied[g] or n_pairs == equal[g]:
            continue
        own_z = own_z - own_z.mean()
        true = x.var(ddof=1) - noise[g] / (2 * n_pairs)
        if not true > 0:
            continue
        slope = float(x @ own_z) / float(own_z @ own_z)
        residual = 2 * max(true - slope**2 * float(own_z.var()), FLOOR * true)
        moved = on_slope[g] * (slope - at.slope) + on_residual[g] * (residual - at.residual)
        found[g] = (count[g] + moved) / np.sqrt(untied[g] * (n_pairs - equal[g]))
    return np.clip(found, -1, 1)


def _normal_scores(scores: Array) -> Array:
    """Return the mean normal score within ties, with mean 0 and variance 1 (Blom 1958)."""
    from scipy.special import ndtri

    n = scores.size
    q = ndtri((np.arange(1, n + 1) - 0.375) / (n + 0.25))
    inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)[1:]
    z = (np.add.reduceat(q, np.cumsum(counts) - counts) / counts)[inverse]
    z -= z.mean()
    return np.asarray(z / z.std())
