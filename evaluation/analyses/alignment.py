"""Alignment: does the order of a model's scores follow the order of people's mean ratings?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd
from evaluation.analyses.alignment_cells import (
    build_cells,
    frame_values,
    tau_of,
)
from evaluation.analyses.alignment_result import (
    AlignmentOptions,
    AlignmentResult,
    Cell,
    GroupAlignment,
    LeftOut,
    NoiseCeiling,
    PooledAlignment,
    ResampledValue,
)
from evaluation.analyses.noise_ceiling import no_ceiling, noise_ceiling
from evaluation.analyses.questions import answer_questions
from evaluation.analyses.rating_cube import RatingCube, build_rating_cube
from evaluation.analyses.score_table import ScoreTable
from evaluation.analyses.tau_answers import Answer
from evaluation.metrics import (
    Interval,
    RankCorrelation,
    UndefinedReason,
    holm_correction,
    no_interval,
    precision_at_k,
    tau_over_scales,
)
from probing.measures.streams import named_stream

NAME = "alignment"
VERSION = "1.0.0"
OBSERVED = "wild bootstrap of submissions"

Array = NDArray[np.float64]


def analyze_alignment(
    *,
    ratings: pd.DataFrame,
    scores: pd.DataFrame | ScoreTable,
    groups: Sequence[str],
    scales: Sequence[str],
    options: AlignmentOptions | None = None,
) -> AlignmentResult:
    """Compare people's mean ratings with a model's scores, per group and over all cells.

    ratings : columns submission, group, scale, value (0 to 100); one row a rating, repeated
        groups left out beforehand
    scores : a table of groups by scales, NaN = no score; or a `ScoreTable` with intervals,
        numbers of prompts and reasons
    groups, scales : slugs, in the order of the result; ties in scores keep the order of scales
    options : see `AlignmentOptions`

    Per group and pooled over all cells: Kendall's tau-b with its p-value (Holm-corrected over
    groups), precision at k, intervals and the noise ceiling; per cell: mean, sd, n, interval.
    Pooled, tau is also given with the noise of people's means taken out, for these groups and for
    groups like these, each with the interval and the p-value of its question (`true_tau`).

    Intervals. A group's tau leaves out its scales in turn (`tau_over_scales`); its precision rests
    on too few scales for an interval, a cell's mean takes Student's t. The pooled tau as observed
    has the interval of the value that studies of as many people have on average (`true_tau`); means
    over groups as observed have none.

    Undefined numbers are NaN with a reason; bad input raises ValueError before any work.
    """
    options = options or AlignmentOptions()
    cube, strangers = build_rating_cube(ratings, groups=groups, scales=scales)
    table = scores if isinstance(scores, ScoreTable) else ScoreTable(mean=scores)
    model = frame_values(table.mean, cube)
    if np.isinf(model).any():
        raise ValueError("a score is infinite; give NaN and a reason instead")
    human = cube.means
    complete = ~np.isnan(human) & ~np.isnan(model)
    by_group = tuple(
        align_group(g, cube, human, model, complete, options) for g in range(len(cube.groups))
    )
    corrected = holm_correction([group.p_value for group in by_group])
    resampled = holm_correction([group.p_resampled for group in by_group])
    by_group = tuple(
        replace(group, p_holm=float(p), p_resampled_holm=float(q))
        for group, p, q in zip(by_group, corrected, resampled, strict=True)
    )
    cells = build_cells(cube, human, complete, table, options)
    return AlignmentResult(
        analysis=NAME,
        version=VERSION,
        signature=_sign(options),
        options=options,
        groups=cube.groups,
        scales=cube.scales,
        pooled=_pool(cube, human, model, complete, by_group, options),
        by_group=by_group,
        cells=cells,
        left_out=strangers + _stranger_scores(table, cube) + _gaps(cells, by_group, cube),
    )


def _sign(options: AlignmentOptions) -> str:
    parts = {
        "seed": options.seed,
        "streams": "named",
        "splits": options.n_splits,
        "level": options.level,
        "ceiling": options.ceiling_share,
        "k": options.k,
        "center": options.center,
        "tau": "b",
        "group": "jackknife:scales",
        "overall": "wild:submissions",
        "holm": "groups",
    }
    return "|".join([f"{NAME}:{VERSION}", *(f"{name}:{value}" for name, value in parts.items())])


def align_group(
    g: int,
    cube: RatingCube,
    human: Array,
    model: Array,
    complete: NDArray[np.bool_],
    options: AlignmentOptions,
) -> GroupAlignment:
    """Return one group; human, model, complete : (n_groups, n_scales)."""
    rated = cube.rated[:, g]
    raters = int(rated.any(axis=1).sum())
    scores = np.where(complete[g], model[g], np.nan)
    tau = tau_of(human[g], model[g])
    precision = precision_at_k(scores, human[g], k=options.k, center=options.center)

    around, p_value = tau_over_scales(human[g], scores, level=options.level)
    if raters < 2:  # one person's order is not people's
        why = UndefinedReason.ONE_RATER if raters else UndefinedReason.NO_RATINGS
        around, p_value = no_interval(why, level=options.level), np.nan

    def share(value: float) -> ResampledValue:
        return without_interval(value, precision.reason, options.level)

    return GroupAlignment(
        group=cube.groups[g],
        n_raters=raters,
        n_incomplete=raters - int(rated.all(axis=1).sum()),
        n_scales=int(complete[g].sum()),
        tau=ResampledValue(tau.value, around, tau.reason),
        p_value=tau.p_value,
        p_holm=np.nan,
        precision_top=share(precision.top),
        precision_bottom=share(precision.bottom),
        precision=share(precision.mean),
        ceiling=_ceiling(cube.values[:, g][:, complete[g]], tau.reason, options, cube.groups[g]),
        p_resampled=p_value,
        p_resampled_holm=np.nan,
    )


def _ceiling(
    values: Array, why_no_tau: str, options: AlignmentOptions, *group: str
) -> NoiseCeiling:
    """The ceiling over the cells that tau rests on; without such cells, tau's own reason."""
    if values.shape[1] == 0:
        return no_ceiling(why_no_tau)
    rng = named_stream(options.seed, "halves", *group)
    return noise_ceiling(values, n_splits=options.n_splits, share=options.ceiling_share, rng=rng)


def without_interval(
    value: float, reason: str, level: float, why: str = UndefinedReason.FEW_PLACES
) -> ResampledValue:
    """Return a value that has no interval; why : by default, that it is precision of one group."""
    return ResampledValue(float(value), no_interval(why, level=level), reason)


def observed_tau(tau: RankCorrelation, answer: Answer, level: float) -> ResampledValue:
    """Return the pooled tau with the interval of its answer."""
    interval = Interval(answer.low, answer.high, level, OBSERVED, reason=answer.interval_reason)
    return ResampledValue(tau.value, interval, tau.reason)


def _pool(
    cube: RatingCube,
    human: Array,
    model: Array,
    complete: NDArray[np.bool_],
    by_group: tuple[GroupAlignment, ...],
    options: AlignmentOptions,
) -> PooledAlignment:
    annotations = np.asarray((cube.rated & complete).any(axis=2))
    tau = tau_of(human.ravel(), model.ravel())
    answers = answer_questions(cube.values, model, options)

    def over_groups(values: list[float]) -> ResampledValue:
        found = [value for value in values if not np.isnan(value)]
        mean = float(np.mean(found)) if found else np.nan
        reason = UndefinedReason.NONE if found else UndefinedReason.NO_GROUP
        return without_interval(mean, reason, options.level, UndefinedReason.OBSERVED_MEAN)

    above = [g for g in by_group if g.tau.value > 0 and g.p_holm < 1 - options.level]
    return PooledAlignment(
        n_submissions=int(annotations.any(axis=1).sum()),
        n_annotations=int(annotations.sum()),
        n_groups=int(complete.any(axis=1).sum()),
        n_cells=int(complete.sum()),
        tau=observed_tau(tau, answers.observed, options.level),
        p_value=tau.p_value,
        group_tau=over_groups([g.tau.value for g in by_group]),
        precision_top=over_groups([g.precision_top.value for g in by_group]),
        precision_bottom=over_groups([g.precision_bottom.value for g in by_group]),
        precision=over_groups([g.precision.value for g in by_group]),
        ceiling=_ceiling(cube.values[:, complete], tau.reason, options),
        n_tested=sum(not np.isnan(g.p_value) for g in by_group),
        n_above_zero=len(above),
        answers=answers,
    )


def _stranger_scores(table: ScoreTable, cube: RatingCube) -> tuple[LeftOut, ...]:
    out = []
    for name in table.mean.index.difference(list(cube.groups)):
        n = int(table.mean.loc[name].notna().sum())
        out.append(LeftOut("scores", str(name), "", n, "the group is not part of this analysis"))
    for name in table.mean.columns.difference(list(cube.scales)):
        n = int(table.mean.reindex(index=list(cube.groups))[name].notna().sum())
        out.append(LeftOut("scores", "", str(name), n, "the scale is not part of this analysis"))
    return tuple(out)


def _gaps(
    cells: tuple[Cell, ...], by_group: tuple[GroupAlignment, ...], cube: RatingCube
) -> tuple[LeftOut, ...]:
    """Groups without a tau, and single cells that the other groups lack."""
    out = []
    undefined = {group.group: group for group in by_group if group.tau.reason}
    for group in undefined.values():
        own = [cell for cell in cells if cell.group == group.group]
        given = {cell.model.reason for cell in own}
        reason = group.tau.reason
        if reason == UndefinedReason.NO_SCORES and len(given) == 1:
            reason = given.pop()
        out.append(LeftOut("group", group.group, "", 1, str(reason)))
    for cell in cells:
        reason = cell.human.reason or cell.model.reason
        if reason and cell.group not in undefined:
            out.append(LeftOut("cell", cell.group, cell.scale, 1, str(reason)))
    return tuple(out)
