"""Known answers: planted slopes and differences are found, and none where there is none."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evaluation.analyses.direction_gaps import DirectionOptions, DirectionTable
from evaluation.analyses.feature_gaps import GAP, FeatureResult, analyze_features
from evaluation.analyses.plain_record import from_plain, to_plain
from evaluation.metrics.undefined import UndefinedReason

N = 120
NAMES = ("aint", "habitual_be")


def simulate(seed, *, slope=0.0, step=0.0, n=N, by_source=0.0):
    """Pairs whose gap changes by `slope` for each feature in 100 words and by `step` with “ain't”.

    With `by_source` texts of “tweets” are denser, and their gap is larger by that much.
    """
    rng = np.random.default_rng(seed)
    words = rng.integers(10, 60, size=n)
    tweets = rng.random(n) < 0.5
    uses = np.column_stack([rng.poisson(words * (0.02 + 0.06 * tweets)) for _ in NAMES])
    density = 100 * uses.sum(axis=1) / words
    into_wme = rng.normal(60, 8, size=n)
    # Spread grows with density, as it does in short texts.
    noise = rng.normal(size=n) * (3 + 0.5 * density)
    into_aal = (
        into_wme - 10 + slope * density + step * (uses[:, 0] > 0) + by_source * tweets + noise
    )
    pairs = [f"p{i}" for i in range(n)]
    values = {("m", "AAL", "rouge1"): into_aal, ("m", "WME", "rouge1"): into_wme}
    table = DirectionTable(pairs, values, {}, DirectionOptions(n_resamples=0))
    features = pd.DataFrame(uses, index=pairs, columns=list(NAMES)).assign(words=words)
    return analyze_features(table, features, np.where(tweets, "tweets", "songs").tolist())


def slope_of(result, *, adjusted=False, quantity=GAP):
    return next(s for s in result.slopes if (s.quantity, s.adjusted) == (quantity, adjusted))


def gap_of(result, feature="aint"):
    return next(g for g in result.gaps if g.feature == feature)


def covers(estimate, value):
    return estimate.low <= value <= estimate.high


SEEDS = range(150)
# 150 draws of a share of 0.95 lie within 0.95 ± 3 · 0.0178.
LEAST, MOST = 0.95 - 3 * 0.0178, 0.95 + 3 * 0.0178


@pytest.mark.parametrize("planted", [-1.5, 0.0])
def test_intervals_of_slopes_hold_the_planted_slope_at_their_level(planted):
    found = [slope_of(simulate(seed, slope=planted)) for seed in SEEDS]
    share = np.mean([covers(slope.estimate, planted) for slope in found])
    assert LEAST <= share <= MOST
    # The mean of 150 estimates is as far off as its standard error allows.
    values = np.array([slope.estimate.value for slope in found])
    assert abs(values.mean() - planted) < 3 * values.std() / np.sqrt(len(values))


@pytest.mark.parametrize("planted", [-6.0, 0.0])
def test_intervals_of_differences_hold_the_planted_difference(planted):
    found = [gap_of(simulate(seed, step=planted)).difference for seed in SEEDS]
    assert LEAST <= np.mean([covers(estimate, planted) for estimate in found]) <= MOST


def test_a_clear_slope_is_found_and_p_agrees_with_the_interval():
    for seed in range(40):
        for planted in (-1.5, 0.0):
            slope = slope_of(simulate(seed, slope=planted))
            assert (slope.p_value < 0.05) == (not covers(slope.estimate, 0))
    found = [slope_of(simulate(seed, slope=-1.5)).p_corrected < 0.05 for seed in SEEDS]
    assert np.mean(found) > 0.95


def test_sources_that_differ_give_a_slope_that_adjustment_takes_away():
    found = [simulate(seed, by_source=-12) for seed in SEEDS]
    raw = [slope_of(result).estimate for result in found]
    adjusted = [slope_of(result, adjusted=True).estimate for result in found]
    assert np.mean([covers(estimate, 0) for estimate in raw]) < 0.2
    assert LEAST <= np.mean([covers(estimate, 0) for estimate in adjusted]) <= MOST


def test_slopes_of_the_directions_differ_by_that_of_the_gap():
    """Least squares is linear, and all three rest on the same pairs."""
    result = simulate(3, slope=-1)
    into_aal, into_wme = (slope_of(result, quantity=v).estimate.value for v in ("AAL", "WME"))
    assert into_aal - into_wme == pytest.approx(slope_of(result).estimate.value)


def hand_made(gaps, uses, words):
    pairs = [f"p{i}" for i in range(len(gaps))]
    values = {
        ("m", "AAL", "rouge1"): np.array(gaps, dtype=float),
        ("m", "WME", "rouge1"): np.zeros(len(gaps)),
    }
    table = DirectionTable(pairs, values, {}, DirectionOptions(n_resamples=50))
    features = pd.DataFrame({"aint": uses, "words": words}, index=pairs)
    return analyze_features(table, features, ["tweets"] * len(gaps))


def test_values_by_hand():
    # Densities 0, 0, 0, 0, 0 and 10, 20, 10, 20, 10 in 100 words; the gap is −1 for each.
    uses = [0, 0, 0, 0, 0, 1, 2, 1, 2, 1]
    gaps = [1, -1, 1, -1, 0, -10, -20, -10, -20, -10]
    result = hand_made(gaps, uses, [10] * 10)
    assert result.density.value == pytest.approx(7)
    assert (result.features, result.texts) == (("aint",), (5,))
    gap = gap_of(result)
    assert (gap.present.value, gap.absent.value) == pytest.approx((-14, 0))
    assert (gap.difference.value, gap.difference.n) == (pytest.approx(-14), 5)
    # Σ(x − 7)(y − ȳ) / Σ(x − 7)²: y is −x but for noise at x = 0 that sums to 0.
    assert slope_of(result).estimate.value == pytest.approx(-1)


def test_a_feature_of_too_few_texts_is_not_compared():
    gap = gap_of(hand_made(range(10), [1, 1, 1, 1, *[0] * 6], [10] * 10))
    assert np.isnan(gap.difference.value)
    assert gap.difference.reason == UndefinedReason.FEW_WITH_FEATURE
    assert (gap.present.n, gap.absent.n) == (4, 6)


def test_pairs_without_a_text_or_a_word_are_left_out():
    result = hand_made(range(12), [0, 1] * 6, [0, 0, *[10] * 10])
    assert result.density.n == 10
    assert slope_of(result).estimate.n == 10


def test_texts_without_features_have_no_slope():
    slope = slope_of(hand_made(range(10), [0] * 10, [10] * 10))
    assert slope.estimate.reason == UndefinedReason.NO_SPREAD_OF_X


def test_the_result_survives_storage():
    result = simulate(0)
    assert to_plain(from_plain(FeatureResult, to_plain(result))) == to_plain(result)
