"""Krippendorff's alpha: its interval against the package, and degenerate tables."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from evaluation.metrics.alpha_resamples import alpha_of_annotators
from evaluation.metrics.interval import bias_corrected_interval
from evaluation.metrics.krippendorff_alpha import krippendorff_alpha
from evaluation.metrics.undefined import UndefinedReason

MEASUREMENTS = ["nominal", "ordinal", "interval", "ratio"]


def simulated(n_units=30, n_annotators=4, missing=0.3, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, size=n_units)
    ratings = np.clip(truth + rng.integers(-1, 2, size=(n_annotators, n_units)), 1, 5)
    return np.where(rng.random(ratings.shape) < missing, np.nan, ratings)


def test_by_hand():
    # Units (1, 1), (1, 2), (2, 2): coincidences o11 = 2, o12 = o21 = 1, o22 = 2; n1 = n2 = 3.
    # D_o = 2/6; D_e = 2·3·3/(6·5) = 0.6; alpha = 1 − (1/3)/0.6 = 4/9.
    found = krippendorff_alpha([[1, 1, 2], [1, 2, 2]], measurement="nominal")
    assert found.value == pytest.approx(4 / 9)
    assert (found.n_units, found.n_values) == (3, 6)


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_every_resample_has_the_alpha_of_the_package(measurement):
    """The same draws, given to the package as repeated columns."""
    ratings = simulated()
    kept = ratings[:, (~np.isnan(ratings)).sum(axis=0) >= 2]
    rng = np.random.default_rng(7)
    draws = [rng.integers(kept.shape[1], size=kept.shape[1]) for _ in range(60)]
    values = [krippendorff.alpha(kept[:, d], level_of_measurement=measurement) for d in draws]
    whole = krippendorff.alpha(kept, level_of_measurement=measurement)
    expected = bias_corrected_interval(whole, values)
    found = krippendorff_alpha(ratings, measurement=measurement, n_resamples=60, seed=7)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-9)


def drawn_alphas(ratings, measurement, *draws):
    kept = ratings[:, (~np.isnan(ratings)).sum(axis=0) >= 2]
    domain = np.unique(kept[~np.isnan(kept)])
    return alpha_of_annotators(kept, domain, measurement, np.array(draws, dtype=float))


@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_resamples_of_people_are_the_package_s_alpha_of_who_was_drawn(measurement):
    """Everybody once, everybody twice (nobody is compared with herself), and without the first."""
    ratings = simulated()
    whole, without = (
        krippendorff.alpha(table, level_of_measurement=measurement)
        for table in (ratings, ratings[1:])
    )
    found = drawn_alphas(ratings, measurement, [1, 1, 1, 1], [2, 2, 2, 2], [0, 1, 1, 1])
    assert found == pytest.approx([whole, whole, without], abs=1e-9)


def test_a_draw_of_people_by_hand():
    # One unit, values 0 (drawn twice), 1 and 3, interval. Pairs of different people, both orders:
    # 2·(2·1 + 2·9 + 1·4) = 48 of 16 − 6 = 10; mean 4.8, times 4 values 19.2. D_e: the same 48
    # over (16 − 6)/4 pairs for each value, 19.2: a single unit has alpha 0.
    # With a second unit (0, 0, 0) by the same people: observed 19.2 + 0; values 0 (six times), 1
    # and 3: 2·(6·1 + 6·9 + 4) = 128 over (64 − 12)/8 = 6.5.
    one, two = np.array([[0.0], [1], [3]]), np.array([[0.0, 0], [1, 0], [3, 0]])
    assert drawn_alphas(one, "interval", [2, 1, 1]) == pytest.approx([0])
    assert drawn_alphas(two, "interval", [2, 1, 1]) == pytest.approx([1 - 19.2 / (128 / 6.5)])


def test_a_draw_of_one_person_alone_has_no_alpha():
    assert np.isnan(drawn_alphas(simulated(missing=0), "ordinal", [4, 0, 0, 0])).all()


def test_people_who_rate_many_units_widen_the_interval():
    """A person's own leaning runs through all that she rates: resampled units do not see it."""
    rng = np.random.default_rng(5)
    ratings = rng.normal(size=(1, 500)) + rng.normal(size=(12, 1)) + rng.normal(size=(12, 500))
    widths = [
        found.high - found.low
        for how in ("units", "annotators")
        for found in [
            krippendorff_alpha(
                ratings.round(), measurement="interval", resample=how, n_resamples=300
            )
        ]
    ]
    assert widths[1] > 1.5 * widths[0]


def test_two_people_have_no_interval_over_people():
    found = krippendorff_alpha([[1, 2, 4], [2, 2, 3]], resample="annotators")
    assert (found.reason, found.interval_reason) == ("", UndefinedReason.FEW_RATERS)


def test_units_with_one_value_do_not_count():
    with_single = np.array([[1, 2, 3, 5], [1, 2, 4, np.nan]])
    found, without = (krippendorff_alpha(x, seed=1) for x in (with_single, with_single[:, :3]))
    assert found == without


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        ([[3, 3], [3, 3]], UndefinedReason.NO_VARIATION),
        # The one other value stands in a unit that nobody else rated.
        ([[3, 3, 5], [3, 3, np.nan]], UndefinedReason.NO_VARIATION),
        ([[1, np.nan], [np.nan, 2]], UndefinedReason.NO_UNIT_TWICE),
        ([[], []], UndefinedReason.NO_UNIT_TWICE),
    ],
)
@pytest.mark.parametrize("measurement", MEASUREMENTS)
def test_undefined_with_a_reason(ratings, reason, measurement):
    found = krippendorff_alpha(ratings, measurement=measurement)
    assert np.isnan([found.value, found.low, found.high]).all()
    assert found.reason == reason


def test_one_unit_has_a_value_but_no_interval():
    found = krippendorff_alpha([[1], [2]])
    assert found.value == pytest.approx(0)  # D_o = D_e with a single pair
    assert (found.reason, found.interval_reason) == ("", UndefinedReason.ONE_UNIT)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="shape"):
        krippendorff_alpha([1, 2])
    with pytest.raises(ValueError, match="infinite"):
        krippendorff_alpha([[1, np.inf], [1, 2]])
    with pytest.raises(ValueError, match="'numbers'"):
        krippendorff_alpha([[1], [1]], measurement="numbers")
