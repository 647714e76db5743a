"""Several runs beside the same people: overall, group by group, and every two of them.

Cao et al. (2022), Tables 6 (overall), A11 to A13 (tau, precision at the top and at the bottom of
every group) and A19 (overall without the groups of the pilot).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from annotation.common.lazy import pd
from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_cells import frame_values, mean_precision
from evaluation.analyses.alignment_comparison_result import (
    ALL,
    PRECISION,
    TAU,
    TEST,
    ComparisonResult,
    Difference,
    RunGroup,
    RunLeftOut,
    RunOverall,
)
from evaluation.analyses.alignment_result import AlignmentOptions, AlignmentResult
from evaluation.analyses.questions import compare_precisions, compare_taus
from evaluation.analyses.rating_cube import RatingCube, build_rating_cube
from evaluation.analyses.score_table import ScoreTable
from evaluation.analyses.tau_answers import Answer
from evaluation.metrics import (
    UndefinedReason,
    holm_correction,
    kendall_tau_b,
)

Array = NDArray[np.float64]


class _Pairs:
    """Differences between every two runs beside the same people, so that what they share cancels.

    models : run → (n_groups, n_scales) scores in the order of the cube, NaN = no score
    """

    def __init__(
        self, cube: RatingCube, models: Mapping[str, Array], options: AlignmentOptions
    ) -> None:
        self.cube, self.models, self.options = cube, models, options
        self.human = cube.means

    def differences(self, part: str) -> tuple[Difference, ...]:
        """Return the difference of every two runs in tau and in precision at k.

        Both runs of a pair rest on the cells that both of them score and people rated. Intervals
        and p-values come in closed form (`questions`); p-values are Holm-corrected over the pairs,
        for either quantity apart.
        """
        found: list[Difference] = []
        for quantity in (TAU, PRECISION):
            drawn = [
                self._difference(part, quantity, *pair) for pair in combinations(self.models, 2)
            ]
            corrected = holm_correction([row.observed.p_value for row in drawn])
            generalizing = holm_correction(
                [row.generalizing.p_value if row.generalizing else np.nan for row in drawn]
            )
            found += [
                replace(row, p_holm=float(p), p_generalizing_holm=float(q))
                for row, p, q in zip(drawn, corrected, generalizing, strict=True)
            ]
        return tuple(found)

    def _cells(self, *runs: str) -> NDArray[np.bool_]:
        """(n_groups, n_scales): cells that people rated and all these runs score."""
        scored = [~np.isnan(self.models[run]) for run in runs]
        return np.logical_and.reduce([~np.isnan(self.human), *scored])

    def _difference(self, part: str, quantity: str, first: str, second: str) -> Difference:
        cells = self._cells(first, second)
        values = [self._value(quantity, run, cells) for run in (first, second)]
        value = values[0] - values[1]
        ratings, models = (self.cube.values,) * 2, (self.models[first], self.models[second])
        if quantity == TAU:
            noise_free, generalizing, observed = compare_taus(ratings, models, self.options)
        else:
            noise_free, generalizing = None, compare_precisions(ratings, models, self.options)
            why = UndefinedReason.NO_ESTIMATE if np.isnan(value) else UndefinedReason.OBSERVED_MEAN
            observed = Answer(value, interval_reason=why)
        reason = str(UndefinedReason.NO_VALUES) if np.isnan(value) else ""
        return Difference(
            part=part,
            quantity=quantity,
            first=first,
            second=second,
            n_groups=int(cells.any(axis=1).sum()),
            n_cells=int(cells.sum()),
            first_value=values[0],
            second_value=values[1],
            observed=replace(observed, value=value, n=int(cells.sum()), reason=reason),
            p_holm=np.nan,
            noise_free=noise_free,
            generalizing=generalizing,
            p_generalizing_holm=np.nan,
        )

    def _value(self, quantity: str, run: str, cells: NDArray[np.bool_]) -> float:
        scores = np.where(cells, self.models[run], np.nan)
        if quantity == TAU:
            return kendall_tau_b(self.human.ravel(), scores.ravel()).value
        return mean_precision(scores, self.human, self.options)


NAME = "alignment_comparison"
VERSION = "1.0.0"


def compare_alignments(
    *,
    ratings: pd.DataFrame,
    scores: Mapping[str, ScoreTable],
    groups: Sequence[str],
    scales: Sequence[str],
    pilot_groups: Sequence[str] = (),
    options: AlignmentOptions | None = None,
) -> ComparisonResult:
    """Return the alignment of every run and the paired differences between them.

    ratings : columns submission, group, scale, value (0 to 100); one row a rating
    scores : run → its table of groups by scales; a group that a run does not score is left out
        for this run
    groups, scales : slugs, in the order of the result
    pilot_groups : groups that helped to choose templates; with some, everything overall is given
        a second time without them

    Every run is aligned as `analyze_alignment` does; see `_Pairs` for the pairs. Raises ValueError
    for bad input, for a pilot group that is not among the groups, and where no group is left.
    """
    options = options or AlignmentOptions()
    if len(scores) < 2:
        raise ValueError(f"{len(scores)} runs cannot be compared, expected two or more")
    strangers = [slug for slug in pilot_groups if slug not in groups]
    if strangers:
        raise ValueError(f"the pilot groups {', '.join(strangers)} are not among the groups")
    test_groups = tuple(slug for slug in groups if slug not in set(pilot_groups))
    if not test_groups:
        raise ValueError("every group is a pilot group: none is left to test")
    parts = {ALL: tuple(groups)} | ({TEST: test_groups} if pilot_groups else {})

    overall: list[RunOverall] = []
    differences: list[Difference] = []
    whole: dict[str, AlignmentResult] = {}
    for part, own in parts.items():
        kept = ratings[ratings["group"].isin(own)] if part == TEST else ratings
        found = {
            run: analyze_alignment(
                ratings=kept, scores=_restrict(table, own), groups=own, scales=scales,
                options=options,
            )
            for run, table in scores.items()
        }  # fmt: skip
        if part == ALL:
            whole = found
        cube, _ = build_rating_cube(kept, groups=own, scales=scales)
        models = {run: frame_values(table.mean, cube) for run, table in scores.items()}
        overall += _overall(part, found)
        differences += _Pairs(cube, models, options).differences(part)
    return ComparisonResult(
        analysis=NAME,
        version=VERSION,
        signature=_sign(options, pilot_groups),
        options=options,
        runs=tuple(scores),
        groups=tuple(groups),
        scales=tuple(scales),
        pilot_groups=tuple(pilot_groups),
        test_groups=test_groups if pilot_groups else (),
        overall=tuple(overall),
        by_group=_by_group(whole),
        differences=tuple(differences),
        left_out=_left_out(whole),
    )


def _restrict(table: ScoreTable, groups: Sequence[str]) -> ScoreTable:
    """Return the means of those groups alone, so that the others do not count as left out."""
    kept = table.mean[table.mean.index.isin(groups)]
    return ScoreTable(mean=kept, reasons=table.reasons)


def _overall(part: str, found: Mapping[str, AlignmentResult]) -> list[RunOverall]:
    corrected = holm_correction([result.pooled.p_value for result in found.values()])
    generalizing = holm_correction(
        [result.pooled.answers.generalizing.p_value for result in found.values()]
    )
    return [
        RunOverall(
            run=run,
            part=part,
            pooled=result.pooled,
            p_holm=float(p_holm),
            p_generalizing_holm=float(p_generalizing),
        )
        for (run, result), p_holm, p_generalizing in zip(
            found.items(), corrected, generalizing, strict=True
        )
    ]


def _by_group(whole: Mapping[str, AlignmentResult]) -> tuple[RunGroup, ...]:
    rows = [
        RunGroup(run, row, np.nan, np.nan)
        for run, result in whole.items()
        for row in result.by_group
    ]
    corrected = holm_correction([row.alignment.p_value for row in rows])
    resampled = holm_correction([row.alignment.p_resampled for row in rows])
    return tuple(
        replace(row, p_table=float(p), p_resampled_table=float(q))
        for row, p, q in zip(rows, corrected, resampled, strict=True)
    )


def _left_out(whole: Mapping[str, AlignmentResult]) -> tuple[RunLeftOut, ...]:
    """Return what did not enter; ratings that no run could use stand there once."""
    found: list[RunLeftOut] = []
    for run, result in whole.items():
        for item in result.left_out:
            entry = RunLeftOut("" if item.what == "ratings" else run, item)
            if entry not in found:
                found.append(entry)
    return tuple(found)


def _sign(options: AlignmentOptions, pilot_groups: Sequence[str]) -> str:
    parts = {
        "seed": options.seed,
        "streams": "named",
        "splits": options.n_splits,
        "level": options.level,
        "k": options.k,
        "center": options.center,
        "tau": "b",
        "pilot": "+".join(pilot_groups) or "none",
        "difference": "wild:submissions",
        "holm": "groups,table,runs,pairs",
    }
    return "|".join([f"{NAME}:{VERSION}", *(f"{name}:{value}" for name, value in parts.items())])
