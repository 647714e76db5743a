"""Do the 95 % intervals cover what they claim to cover? Simulation with known truths, seeded."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.alignment import analyze_alignment
from evaluation.analyses.alignment_result import AlignmentOptions
from evaluation.metrics import kendall_tau_b
from tests.evaluation.analyses.simulated import as_long, names, simulate_ratings

pytestmark = pytest.mark.slow

CORRELATION = 0.6


def draw_truth(n_groups: int, n_scales: int, rng: np.random.Generator):
    """Normal means and scores that correlate; people's means have sd 12 round 50."""
    z = rng.normal(size=(n_groups, n_scales))
    noise = rng.normal(size=z.shape)
    return 50 + 12 * z, CORRELATION * z + math.sqrt(1 - CORRELATION**2) * noise


def test_a_groups_interval_covers_the_tau_between_model_and_true_means():
    # For bivariate normal values the tau of the population of scales is 2/π · arcsin(ρ)
    # (Kendall and Gibbons 1990, ch. 9). 200 intervals: a true coverage of 0.95 has sd 0.015.
    rng = np.random.default_rng(20)
    target = 2 / math.pi * math.asin(CORRELATION)
    groups, scales = names("g", 25), names("s", 16)
    hits = []
    for repeat in range(8):
        truth, scores = draw_truth(25, 16, rng)
        values = simulate_ratings(truth, people=125, per_person=4, rng=rng)
        found = analyze_alignment(
            ratings=as_long(values, groups, scales),
            scores=pd.DataFrame(scores, groups, scales),
            groups=groups,
            scales=scales,
            options=AlignmentOptions(seed=repeat, n_resamples=300, n_splits=0),
        )
        hits += [g.tau.interval.low <= target <= g.tau.interval.high for g in found.by_group]
    assert 0.91 <= np.mean(hits) <= 0.995


def test_the_pooled_interval_covers_the_tau_that_studies_of_this_size_have_on_average():
    # Cells and scores stay as they are, people are drawn anew: the target is the mean of the
    # estimates over 300 further studies. 60 intervals: a true coverage of 0.95 has sd 0.028.
    rng = np.random.default_rng(21)
    groups, scales = names("g", 6), names("s", 8)
    truth, scores = draw_truth(6, 8, rng)

    def study() -> np.ndarray:
        return simulate_ratings(truth, people=40, per_person=3, rng=rng)

    target = np.mean(
        [
            kendall_tau_b(np.nanmean(study(), axis=0).ravel(), scores.ravel()).value
            for _ in range(300)
        ]
    )
    hits = []
    for _ in range(60):
        found = analyze_alignment(
            ratings=as_long(study(), groups, scales),
            scores=pd.DataFrame(scores, groups, scales),
            groups=groups,
            scales=scales,
            options=AlignmentOptions(n_splits=0),
        )
        interval = found.pooled.tau.interval
        hits.append(interval.low <= target <= interval.high)
    assert 0.87 <= np.mean(hits) <= 1.0
    assert found.pooled.tau.interval.method == "wild bootstrap of submissions"


@pytest.mark.parametrize("spread", [5, 24])
def test_a_cells_interval_covers_its_true_mean(spread):
    # Means of 20 normal ratings, 400 cells: sd of the coverage 0.011. The percentile interval of
    # a mean of 20 is known to run a little short.
    rng = np.random.default_rng(22)
    groups, scales = names("g", 20), names("s", 20)
    values = np.clip(rng.normal(50, spread, (20, 20, 20)), 0, 100)
    found = analyze_alignment(
        ratings=as_long(values, groups, scales),
        scores=pd.DataFrame(rng.normal(size=(20, 20)), groups, scales),
        groups=groups,
        scales=scales,
        options=AlignmentOptions(n_resamples=500, n_splits=0),
    )
    hits = [c.human.interval.low <= 50 <= c.human.interval.high for c in found.cells]
    assert 0.88 <= np.mean(hits) <= 0.98
