"""Answers without a class, wordings and orders, and the mixed model: by hand, and planted."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.fpr_counts import GapOptions
from evaluation.analyses.fpr_gaps import analyze_gaps
from evaluation.analyses.fpr_mixed import NO_INTERVAL, fit_mixed
from evaluation.analyses.fpr_prompting import ONE_EACH, factor_shares, fallback_bounds
from evaluation.metrics.mixed_logistic import SEPARATED
from tests.evaluation.analyses.test_fpr_gaps import find, predictions, simulate

NO_DRAWS = GapOptions(n_resamples=0)


def test_bounds_of_answers_without_a_class_by_hand() -> None:
    """Two groups of one word, four neutral templates, one run.

    a: negative, drawn negative, drawn neutral, neutral. b: drawn neutral, then neutral.
    Rates as drawn 1/2 and 0; drop 1/2 and 0; all errors 3/4 and 1/4; all correct 1/4 and 0.
    """
    cells = (("a", "x"), ("b", "y"))
    case = predictions([[[0, 0, 1, 1], [1, 1, 1, 1]]], cells=cells, labels=(1,) * 4)
    case = replace(case, matched=np.array([[True, False, False, True, False, True, True, True]]))

    def rates(fallback: str) -> list[float]:
        options = replace(NO_DRAWS, fallback=fallback)
        return [gap.fpr for gap in analyze_gaps(case, options).of("negative")]

    assert rates("random") == [0.5, 0]
    assert rates("drop") == [0.5, 0]
    assert rates("errors") == [0.75, 0.25]
    assert rates("correct") == [0.25, 0]
    a, b = (one for one in fallback_bounds(case, NO_DRAWS) if one.side == "negative")
    assert (a.n_answers, a.n_without, a.share) == (4, 2, 0.5)
    assert (a.errors.value, a.correct.value) == (0.25, 0.125)
    # a between 1/4 and 3/4, b between 0 and 1/4: half of the difference at either end.
    assert (a.low, a.high) == (0, 0.375)
    assert (b.low, b.high) == (-0.375, 0)
    dropped = analyze_gaps(case, replace(NO_DRAWS, fallback="drop"))
    assert find(dropped, "a").n_negatives == 2
    # As drawn 6 of 8 are right; of the five that named a class all but one.
    assert dropped.accuracy.mean == 4 / 5
    assert fallback_bounds(replace(case, matched=None), NO_DRAWS) == ()


def with_factors(said: list[list[list[int]]], **factors: list[object]) -> object:
    case = predictions(said, cells=(("a", "x"), ("b", "y")), labels=(1,) * 4)
    return replace(case, factors=pd.DataFrame(factors))


def test_a_wording_that_makes_all_of_a_gap_explains_all_of_it() -> None:
    """Gaps of a: 1/8 twice with one wording, −1/8 twice with the other; seeds explain nothing."""
    up, down = [[0, 1, 1, 1], [1, 1, 1, 1]], [[1, 1, 1, 1], [0, 1, 1, 1]]
    case = with_factors(
        [up, up, down, down], wording=["p", "p", "q", "q"], order=[""] * 4, seed=[1, 2, 1, 2]
    )
    shares = {one.factor: one for one in factor_shares(case, NO_DRAWS) if one.side == "negative"}
    assert set(shares) == {"wording", "seed"}
    assert shares["wording"].share.value == pytest.approx(1)
    # All variance is within seeds: (0 − 1 · SS / 2) / SS.
    assert shares["seed"].share.value == pytest.approx(-0.5)
    single = with_factors([up, down], wording=["p", "q"], order=[""] * 2, seed=[1, 1])
    assert {one.share.reason for one in factor_shares(single, NO_DRAWS)} == {ONE_EACH}


def test_chance_alone_explains_nothing_on_average() -> None:
    """ε² is unbiased: over 200 simulations its mean is 0, give or take three standard errors."""
    found = []
    for seed in range(200):
        case = simulate(seed, runs=6)
        factors = pd.DataFrame({"wording": list("ppqqrr"), "order": [""] * 6, "seed": [0] * 6})
        found.append(factor_shares(replace(case, factors=factors), NO_DRAWS)[0].share.value)
    assert abs(np.mean(found)) < 3 * np.std(found) / math.sqrt(200)


def test_the_mixed_model_finds_what_was_planted_and_says_where_it_has_no_fit() -> None:
    (planted,) = fit_mixed(simulate(3, runs=3, shift=1.5), GapOptions(), ["negative"])
    effects = {one.group: one.effect for one in planted.effects}
    assert effects["a"].value > 0.5
    assert {one.interval_reason for one in effects.values()} == {NO_INTERVAL}
    assert sum(one.value for one in effects.values()) == pytest.approx(0, abs=1e-9)
    # 40 templates, 3 runs, two words of a and one of each other group.
    assert (effects["a"].n, effects["b"].n, planted.n) == (240, 120, 480)
    (none,) = fit_mixed(simulate(3, runs=3), GapOptions(), ["negative"])
    assert all(abs(one.effect.value) < 0.5 for one in none.effects)
    assert none.template_sd > 0.5
    right = predictions([[[1] * 4, [1] * 4, [0, 1, 1, 0]]])
    (separated,) = fit_mixed(right, GapOptions(), ["negative"])
    assert (separated.reason, separated.effects) == (SEPARATED, ())
