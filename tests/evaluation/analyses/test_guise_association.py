"""Agreement and favorability of guises, with the reason why they have no interval."""

from __future__ import annotations

import numpy as np

from evaluation.analyses.guise_association import HumanStudy, analyze_guises
from evaluation.analyses.guise_cells import GuiseOptions
from evaluation.analyses.guise_draws import GuiseRun
from evaluation.metrics.undefined import UndefinedReason

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


def test_what_noise_moves_to_one_side_has_no_interval_and_says_so() -> None:
    """Ranks, and which attributes come first, are decided by noise too."""
    options = GuiseOptions(n_resamples=200, n_permutations=100)
    found = analyze_guises([noisy_run(1)], ATTRIBUTES, [STUDY], FAVOR, options)
    model = next(line for line in found.favorabilities if line.source == "covert")
    for estimate, why in (
        (found.agreements[0].estimate, UndefinedReason.RANKING),
        (model.unweighted, UndefinedReason.BEST_OF_NOISY),
        (model.weighted, UndefinedReason.BEST_OF_NOISY),
    ):
        assert estimate.is_defined
        assert (np.isnan(estimate.low), estimate.note) == (True, why)
