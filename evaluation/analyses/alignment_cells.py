"""The cells of an alignment: one group on one scale, as people and the model see it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd, stats
from evaluation.analyses.alignment_result import AlignmentOptions, Cell, HumanCell, ModelCell
from evaluation.analyses.rating_cube import RatingCube
from evaluation.analyses.score_table import ScoreTable
from evaluation.metrics import (
    Interval,
    RankCorrelation,
    UndefinedReason,
    kendall_tau_b,
    no_interval,
    precision_at_k,
)
from evaluation.metrics.few_units import LEAST_RATINGS

RATING_BOUNDS = (0.0, 100.0)

Array = NDArray[np.float64]


def frame_values(frame: pd.DataFrame, cube: RatingCube) -> Array:
    """(n_groups, n_scales) in the order of the cube; NaN where the frame has no such cell."""
    for axis, names in (("group", frame.index), ("scale", frame.columns)):
        if not names.is_unique:
            raise ValueError(f"a {axis} stands twice in the scores")
    ordered = frame.reindex(index=list(cube.groups), columns=list(cube.scales))
    return ordered.to_numpy(dtype=float)


def mean_precision(scores: Array, human: Array, options: AlignmentOptions) -> float:
    """Return the mean over groups of precision at k, NaN where no group has one.

    scores, human : (n_groups, n_scales)
    """
    found = [
        precision_at_k(*rows, k=options.k, center=options.center).mean
        for rows in zip(scores, human, strict=True)
    ]
    return float(np.nanmean(found)) if not np.isnan(found).all() else np.nan


def tau_of(human: Array, model: Array) -> RankCorrelation:
    """Return tau of means and scores, its reason in words about people and model."""
    found = kendall_tau_b(human, model)
    words = {
        UndefinedReason.CONSTANT_FIRST: UndefinedReason.CONSTANT_HUMAN,
        UndefinedReason.CONSTANT_SECOND: UndefinedReason.CONSTANT_MODEL,
    }
    if np.isnan(model).all():
        return replace(found, reason=UndefinedReason.NO_SCORES)
    if np.isnan(human).all():
        return replace(found, reason=UndefinedReason.NO_RATINGS)
    return replace(found, reason=words.get(UndefinedReason(found.reason), found.reason))


def build_cells(
    cube: RatingCube,
    human: Array,
    complete: NDArray[np.bool_],
    table: ScoreTable,
    options: AlignmentOptions,
) -> tuple[Cell, ...]:
    """Return every group on every scale, in order; cells without a value carry the reason."""
    parts = {
        name: np.full(human.shape, np.nan) if frame is None else frame_values(frame, cube)
        for name, frame in (
            ("mean", table.mean),
            ("low", table.low),
            ("high", table.high),
            ("n", table.n),
        )
    }
    counts = cube.counts
    cells = []
    for g, group in enumerate(cube.groups):
        human_ranks = _ranks(human[g], complete[g])
        model_ranks = _ranks(parts["mean"][g], complete[g])
        for s, scale in enumerate(cube.scales):
            n_prompts, missing = parts["n"][g, s], bool(np.isnan(parts["mean"][g, s]))
            cells.append(
                Cell(
                    group=group,
                    scale=scale,
                    human=_human_cell(
                        cube.values[:, g, s],
                        human[g, s],
                        int(counts[g, s]),
                        human_ranks[s],
                        options,
                    ),
                    model=ModelCell(
                        mean=float(parts["mean"][g, s]),
                        low=float(parts["low"][g, s]),
                        high=float(parts["high"][g, s]),
                        n=None if np.isnan(n_prompts) else int(n_prompts),
                        rank=model_ranks[s],
                        reason=_score_reason(table, group, scale)
                        if missing
                        else UndefinedReason.NONE,
                    ),
                )
            )
    return tuple(cells)


def _human_cell(
    values: Array,
    mean: float,
    n: int,
    rank: int | None,
    options: AlignmentOptions,
) -> HumanCell:
    ratings = values[~np.isnan(values)]
    interval = rating_interval(ratings, options.level)
    return HumanCell(
        mean=float(mean),
        sd=float(ratings.std(ddof=1)) if n > 1 else np.nan,
        n=n,
        interval=interval,
        rank=rank,
        reason=UndefinedReason.NONE if n else UndefinedReason.NO_RATINGS,
        sd_reason=UndefinedReason.NONE if n > 1 else UndefinedReason.ONE_RATING,
    )


def rating_interval(ratings: Array, level: float) -> Interval:
    """Return Student's interval of a mean rating, 0 to 100, without missing values.

    None for fewer than ten ratings and where more than half of them are equal: the spread of
    ratings piled up at one place says too little about the rest.
    """
    n = ratings.size
    if n == 0:
        return no_interval(UndefinedReason.NO_RATINGS, level=level)
    if n < LEAST_RATINGS:
        return no_interval(UndefinedReason.FEW_RATINGS, level=level)
    if np.unique(ratings, return_counts=True)[1].max() > n / 2:
        return no_interval(UndefinedReason.HALF_EQUAL, level=level)
    reach = float(stats.t.ppf((1 + level) / 2, n - 1) * ratings.std(ddof=1) / np.sqrt(n))
    low, high = np.clip(ratings.mean() + np.array([-reach, reach]), *RATING_BOUNDS)
    return Interval(float(low), float(high), level, "Student’s t")


def _ranks(values: Array, complete: NDArray[np.bool_]) -> list[int | None]:
    """Rank from the 100 pole down among complete scales; ties share the smaller rank."""
    ranks = stats.rankdata(-values[complete], method="min")
    ranked = iter(ranks)
    return [int(next(ranked)) if has else None for has in complete]


def _score_reason(table: ScoreTable, group: str, scale: str) -> str:
    return table.reasons.get((group, scale)) or UndefinedReason.NO_SCORES
