"""Intervals of agreement and favorability of guises stay in the range of what they are of."""

from __future__ import annotations

import numpy as np
import pytest

from evaluation.analyses.guise_association import HumanStudy, analyze_guises
from evaluation.analyses.guise_cells import GuiseOptions, estimate_of, norm_bounds
from evaluation.analyses.guise_draws import GuiseRun

ATTRIBUTES = [f"word {place:02}" for place in range(12)]
STUDY = HumanStudy("s", "S", 1933, {name: 100 - n for n, name in enumerate(ATTRIBUTES[:5])})
#: The first five are the most favorable: no mean of five passes 2, nor falls below −2.
FAVOR = {name: 2.0 if place < 5 else -2.0 for place, name in enumerate(ATTRIBUTES)}


def noisy_run(seed: int) -> GuiseRun:
    """Eight texts and four prompts of a model that favors the study’s first five, with noise."""
    rng = np.random.default_rng(seed)
    effects = np.r_[np.linspace(0.6, 0.3, 5), np.zeros(7)]
    level = rng.normal(-5, 1, (4, 1, 12))
    first, second = (level + rng.normal(0, 0.6, (4, 8, 12)) for _ in range(2))
    agrees = np.ones((4, 12), dtype=bool)
    return GuiseRun("m", "covert", "", tuple("abcd"), "t", first + effects, second, agrees, True)


def test_an_interval_is_cut_at_the_range_of_its_quantity() -> None:
    """Resamples evenly from 0 to 1, of an agreement of 0.9: nine tenths lie below, z0 is 1.28.

    The percentiles 0.025 and 0.975 move by 0.9 − 0.5; the upper one, 1.375, is no agreement.
    """
    even = np.linspace(0, 1, 1001)
    found = estimate_of(0.9, even, 9, GuiseOptions(), bounds=(0.0, 1.0))
    assert (found.low, found.high) == pytest.approx((0.425, 1.0), abs=1e-3)
    assert estimate_of(0.9, even, 9, GuiseOptions()).high == pytest.approx(1.375, abs=1e-3)


def test_agreement_and_favorability_never_leave_their_range() -> None:
    """Noise makes resampled rankings worse than the ranking itself, often by more than its z0 of 1.

    A mean of norms lies between the least and the largest norm, average precision within 0 and 1.
    """
    options = GuiseOptions(n_resamples=200, n_permutations=100)
    moved = 0
    for seed in range(8):
        found = analyze_guises([noisy_run(seed)], ATTRIBUTES, [STUDY], FAVOR, options)
        model = next(line for line in found.favorabilities if line.source == "covert")
        for estimate, low, high in (
            (found.agreements[0].estimate, 0, 1),
            (model.unweighted, -2, 2),
            (model.weighted, -2, 2),
        ):
            assert low <= estimate.low <= estimate.value <= estimate.high <= high
            moved += estimate.high == high
    assert moved  # some of them would have passed it


def test_the_range_of_a_norm_is_that_of_the_attributes_that_it_knows() -> None:
    assert norm_bounds(np.array([np.nan, 0.5, -1.0])) == (-1.0, 0.5)
    assert norm_bounds(np.array([np.nan])) == (-np.inf, np.inf)
