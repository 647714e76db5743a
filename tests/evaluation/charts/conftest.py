"""Tables of one small alignment for the chart tests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.analyses.score_table import ScoreTable
from evaluation.charts import GroupLabel, ScaleLabel
from evaluation.reports.alignment_tables import alignment_tables
from tests.evaluation.analyses.simulated import as_long, names, simulate_ratings

DIMENSIONS = ("agency", "beliefs", "communion")


@dataclass(frozen=True)
class Picture:
    tables: dict[str, pd.DataFrame]
    groups: list[GroupLabel]
    scales: list[ScaleLabel]


def make_picture(n_groups: int, n_scales: int, *, people: int = 24) -> Picture:
    """An alignment with prompts, intervals and one gap, and labels that occur nowhere else."""
    rng = np.random.default_rng(n_groups * 100 + n_scales)
    groups, scales = names("group", n_groups), names("scale", n_scales)
    truth = rng.normal(50, 15, (n_groups, n_scales))
    ratings = simulate_ratings(truth, people=people, per_person=min(3, n_groups), rng=rng)
    scores = pd.DataFrame((truth - 50) / 30 + rng.normal(0, 0.3, truth.shape), groups, scales)
    if n_scales > 4:
        scores.iloc[0, 1] = np.nan
    result = analyze_alignment(
        ratings=as_long(ratings, groups, scales),
        scores=ScoreTable(mean=scores, low=scores - 0.4, high=scores + 0.4, n=scores * 0 + 12),
        groups=groups,
        scales=scales,
        options=AlignmentOptions(seed=1, n_resamples=100, n_splits=20),
    )
    return Picture(
        tables={name: table.frame for name, table in alignment_tables(result).items()},
        groups=[GroupLabel(g, f"people of {g}", f"domain {i % 3}") for i, g in enumerate(groups)],
        scales=[
            ScaleLabel(s, f"low {s}", f"high {s}", d, d.capitalize())
            for s, d in zip(scales, sorted(DIMENSIONS[i % 3] for i in range(n_scales)), strict=True)
        ],
    )


@pytest.fixture(scope="session")
def picture() -> Picture:
    return make_picture(6, 16)
