"""Several runs beside the same people: overall, group by group, and every two of them.

Cao et al. (2022), Tables 6 (overall), A11 to A13 (tau, precision at the top and at the bottom of
every group) and A19 (overall without the groups of the pilot).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from annotation.common.lazy import pd
from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_cells import frame_values
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
from evaluation.analyses.alignment_differences import SharedResamples
from evaluation.analyses.alignment_result import AlignmentOptions, AlignmentResult
from evaluation.analyses.rating_cube import build_rating_cube
from evaluation.analyses.score_table import ScoreTable
from evaluation.metrics import holm_correction

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

    Every run is aligned as `analyze_alignment` does, with the same seed and so the same resampled
    people; see `alignment_differences.SharedResamples` for the pairs. Raises ValueError for bad
    input, for a pilot group that is not among the groups, and where no group is left to test.
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
        shared = SharedResamples(cube, models, options)
        overall += _overall(part, found, shared)
        differences += shared.differences(part)
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


def _overall(
    part: str, found: Mapping[str, AlignmentResult], shared: SharedResamples
) -> list[RunOverall]:
    corrected = holm_correction([result.pooled.p_value for result in found.values()])
    generalising = holm_correction(
        [result.pooled.answers.generalising.p_value for result in found.values()]
    )
    return [
        RunOverall(
            run=run,
            part=part,
            pooled=result.pooled,
            p_holm=float(p_holm),
            tau_wide=shared.wide_interval(TAU, run),
            precision_wide=shared.wide_interval(PRECISION, run),
            p_generalising_holm=float(p_generalising),
        )
        for (run, result), p_holm, p_generalising in zip(
            found.items(), corrected, generalising, strict=True
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
        "resamples": options.n_resamples,
        "splits": options.n_splits,
        "level": options.level,
        "k": options.k,
        "centre": options.centre,
        "tau": "b",
        "pilot": "+".join(pilot_groups) or "none",
        "difference": "recentred:submissions",
        "wide": "recentred:submissions+groups",
        "p": "recentred",
        "holm": "groups,table,runs,pairs",
    }
    return "|".join([f"{NAME}:{VERSION}", *(f"{name}:{value}" for name, value in parts.items())])
