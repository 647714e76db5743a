"""Resampled and permuted values of subgroups: tau over cells and precision over groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.alignment_cells import tau_of
from evaluation.analyses.alignment_resamples import mean_over_groups
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.rating_cube import RatingCube
from evaluation.analyses.subgroup_result import PRECISION, TAU
from evaluation.metrics import (
    RankCorrelation,
    kendall_tau_b_batch,
    precision_at_k,
    precision_at_k_batch,
)

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class SubgroupDraws:
    """The people of a study with a model's scores, drawn again as often as the options say.

    model : (n_groups, n_scales) in the order of the cube, NaN = no score
    """

    def __init__(self, cube: RatingCube, model: Array, options: AlignmentOptions) -> None:
        self.cube, self.model, self.options = cube, model, options
        flat = cube.flat()
        self._rated = (~np.isnan(flat)).astype(float)
        self._values = np.nan_to_num(flat)
        people, scales, self._permuting = (
            np.random.default_rng(seed) for seed in np.random.SeedSequence(options.seed).spawn(3)
        )
        n, n_scales, size = len(cube.submissions), len(cube.scales), options.n_resamples
        self._counts = people.multinomial(n, np.full(n, 1 / n), size=size).astype(float)
        share = np.full(n_scales, 1 / n_scales)
        self.scale_counts = scales.multinomial(n_scales, share, size=size).astype(float)

    def means(self, weights: Array) -> Array:
        """Return mean ratings for every row of weights of people, NaN = no rating.

        weights : (n_draws, n_people); returns (n_draws, n_groups, n_scales)
        """
        count = weights @ self._rated
        total = weights @ self._values
        found = np.divide(total, count, out=np.full(total.shape, np.nan), where=count > 0)
        return found.reshape(len(weights), len(self.cube.groups), len(self.cube.scales))

    def resampled(self, members: Mask) -> Array:
        """Return the means of these people in every resample of all people."""
        return self.means(self._counts * members)

    def permutations(self, people: Mask) -> NDArray[np.intp]:
        """Return (n_resamples, n): these people in random order, a new one each time."""
        places = np.flatnonzero(people)
        rows = np.tile(places, (self.options.n_resamples, 1))
        return self._permuting.permuted(rows, axis=1)

    def permuted(self, members: Mask, order: NDArray[np.intp]) -> Array:
        """Return the means after the memberships of the people in ``order`` were exchanged."""
        weights = np.zeros((len(order), len(members)))
        if len(order):
            own = members[np.sort(order[0])]
            np.put_along_axis(weights, order, np.tile(own, (len(order), 1)), axis=1)
        return self.means(weights)

    # -- values --------------------------------------------------------------------------------

    def tau(self, human: Array) -> RankCorrelation:
        """Return tau over all cells with a mean and a score."""
        return tau_of(human.ravel(), self.model.ravel())

    def precision(self, human: Array) -> float:
        """Return the mean over groups of precision at k, NaN where no group has one."""
        k, centre = self.options.k, self.options.centre
        found = [
            precision_at_k(self.model[g], human[g], k=k, centre=centre).mean
            for g in range(len(human))
        ]
        known = [value for value in found if not np.isnan(value)]
        return float(np.mean(known)) if known else np.nan

    def draw(self, quantity: str, means: Array, cells: Mask) -> Array:
        """Return (n_draws,) values of a quantity over those cells; NaN where undefined.

        means : (n_draws, n_groups, n_scales)
        """
        if quantity == TAU:
            return kendall_tau_b_batch(means[:, cells], self.model[cells])
        if quantity != PRECISION:
            raise ValueError(f"{quantity} is no quantity of a subgroup")
        k, centre = self.options.k, self.options.centre
        scores = np.where(cells, self.model, np.nan)
        rows = [
            precision_at_k_batch(scores[g], means[:, g], k=k, centre=centre).mean
            for g in range(len(scores))
            if cells[g].any()
        ]
        return mean_over_groups(rows, len(means))
