"""Resampled and permuted values of subgroups: tau over cells and precision over groups."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evaluation.analyses.alignment_cells import tau_of
from evaluation.analyses.alignment_resamples import (
    draw_people,
    draw_scales,
    mean_over_groups,
    mean_precision,
    resampled_means,
)
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.rating_cube import RatingCube
from evaluation.analyses.subgroup_result import PRECISION, TAU
from evaluation.metrics import RankCorrelation, kendall_tau_b_batch, precision_at_k_batch
from probing.measures.streams import named_stream

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]


class SubgroupDraws:
    """The people of a study with a model's scores, drawn again as often as the options say.

    model : (n_groups, n_scales) in the order of the cube, NaN = no score
    """

    def __init__(self, cube: RatingCube, model: Array, options: AlignmentOptions) -> None:
        self.cube, self.model, self.options = cube, model, options
        self._counts = draw_people(cube, options)
        self.scale_counts = draw_scales(cube.scales, options)

    def resampled(self, members: Mask) -> Array:
        """Return the means of these people in every resample of all people."""
        return resampled_means(self.cube, self._counts * members)

    def permutations(self, question: str, people: Mask) -> NDArray[np.intp]:
        """Return (n_resamples, n): who answered it in random order, a new one each time."""
        places = np.flatnonzero(people)
        rows = np.tile(places, (self.options.n_resamples, 1))
        return named_stream(self.options.seed, "exchange", question).permuted(rows, axis=1)

    def permuted(self, members: Mask, order: NDArray[np.intp]) -> Array:
        """Return the means after the memberships of the people in ``order`` were exchanged."""
        weights = np.zeros((len(order), len(members)))
        if len(order):
            own = members[np.sort(order[0])]
            np.put_along_axis(weights, order, np.tile(own, (len(order), 1)), axis=1)
        return resampled_means(self.cube, weights)

    # -- values --------------------------------------------------------------------------------

    def tau(self, human: Array) -> RankCorrelation:
        """Return tau over all cells with a mean and a score."""
        return tau_of(human.ravel(), self.model.ravel())

    def precision(self, human: Array) -> float:
        """Return the mean over groups of precision at k, NaN where no group has one."""
        return mean_precision(self.model, human, self.options)

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
