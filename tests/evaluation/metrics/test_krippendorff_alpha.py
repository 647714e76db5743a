"""Krippendorff's alpha: its interval against the package, and degenerate tables."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from scipy import stats

from evaluation.metrics import counted_values
from evaluation.metrics.counted_values import CountedValues
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
def test_alpha_without_a_unit_or_a_person_is_that_of_the_package(measurement):
    """The package is given the table without the column, and without the row."""
    ratings = simulated()
    kept = ratings[:, (~np.isnan(ratings)).sum(axis=0) >= 2]
    domain = np.unique(kept[~np.isnan(kept)])
    without_units = [
        krippendorff.alpha(np.delete(kept, place, axis=1), level_of_measurement=measurement)
        for place in range(kept.shape[1])
    ]
    without_people = [
        krippendorff.alpha(np.delete(kept, place, axis=0), level_of_measurement=measurement)
        for place in range(len(kept))
    ]
    counted = CountedValues.of(kept, domain, measurement)
    assert counted.without_units() == pytest.approx(without_units, abs=1e-9)
    assert counted.without_annotators() == pytest.approx(without_people, abs=1e-9)


def balanced_interval(table, *, people):
    """methods.md §9 with alpha in closed form, as in a complete table of numbers.

    α = 1 − mean over units of the variance over people / variance of all values.
    """

    def log_apart(some):
        return np.log(some.var(axis=0, ddof=1).mean() / some.var(ddof=1))

    def spread(axis):
        n = table.shape[axis]
        logs = np.array([log_apart(np.delete(table, i, axis)) for i in range(n)])
        return (n - 1) / n * ((logs - logs.mean()) ** 2).sum(), n - 1

    parts = [spread(1), *([spread(0)] if people else [])]
    v = sum(part for part, _ in parts)
    df = v**2 / sum(part**2 / each for part, each in parts)
    reach = stats.t.ppf(0.975, df) * np.sqrt(v)
    return 1 - np.exp(log_apart(table) + reach), 1 - np.exp(log_apart(table) - reach)


@pytest.mark.parametrize(("over", "people"), [("units", False), ("annotators", True)])
def test_intervals_are_those_of_the_formula(over, people):
    rng = np.random.default_rng(3)
    ratings = (rng.normal(size=(1, 50)) + rng.normal(size=(6, 50))).round(1)
    found = krippendorff_alpha(ratings, measurement="interval", over=over)
    assert (found.low, found.high) == pytest.approx(
        balanced_interval(ratings, people=people), abs=1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("people", "units", "over"), [(5, 40, "annotators"), (12, 60, "annotators"), (3, 40, "units")]
)
def test_intervals_hold_in_simulated_studies(people, units, over):
    """methods.md §9: 91 to 99 % within the rule; α of people like these is 1 − 1.5/2.5."""
    rng = np.random.default_rng(17)
    held = []
    for _ in range(600):
        leaning = rng.normal(0, np.sqrt(0.5), (people, 1))
        ratings = rng.normal(size=(1, units)) + leaning + rng.normal(size=(people, units))
        ratings = ratings.round(1)
        found = krippendorff_alpha(ratings, measurement="interval", over=over)
        truth = 1 - 1.5 / 2.5
        if over == "units":  # with these people alone their own leanings stay as they are
            own = float(leaning.var(ddof=1))
            truth = 1 - (1 + own) / (2 + own * (people - 1) / people)
        held.append(found.low <= truth <= found.high)
    assert 0.91 - 3 * 0.012 <= np.mean(held) <= 0.99 + 3 * 0.004  # three standard errors


@pytest.mark.parametrize(
    ("ratings", "measurement", "over", "reason"),
    [
        (np.arange(8.0).reshape(2, 4), "interval", "units", "FEW_UNITS"),
        (np.arange(200.0).reshape(4, 50), "interval", "annotators", "FEW_RATERS"),
        # Of fifty units five have the rarer class.
        (np.r_[np.ones(5), np.zeros(45)] * np.ones((3, 1)), "nominal", "units", "FEW_UNITS"),
        # Complete agreement: α is 1 and nothing says how far it would move.
        (np.arange(50.0) * np.ones((3, 1)), "interval", "units", "NO_SPREAD_AT_ALL"),
    ],
)
def test_without_what_it_takes_there_is_a_value_and_no_interval(ratings, measurement, over, reason):
    found = krippendorff_alpha(ratings, measurement=measurement, over=over)
    assert np.isfinite(found.value)
    assert np.isnan([found.low, found.high]).all()
    assert found.interval_reason == UndefinedReason[reason]


@pytest.mark.parametrize("measurement", MEASUREMENTS)
@pytest.mark.parametrize("cells", [counted_values.MOST_CELLS, 10])
def test_alpha_from_counts_is_that_of_the_package(measurement, cells, monkeypatch):
    """Counts are kept in rows, or sparse; values may be negative and need not be whole."""
    monkeypatch.setattr(counted_values, "MOST_CELLS", cells)
    rng = np.random.default_rng(3)
    for ratings in (simulated(), rng.normal(size=(3, 40)).round(1), rng.integers(0, 2, (9, 12))):
        table = ratings[:, (~np.isnan(ratings)).sum(axis=0) >= 2].astype(float)
        domain = np.unique(table[~np.isnan(table)])
        wanted = krippendorff.alpha(table, level_of_measurement=measurement)
        counted = CountedValues.of(table, domain, measurement)
        assert counted.alpha() == pytest.approx(wanted)
        without = [
            krippendorff.alpha(np.delete(table, place, axis=0), level_of_measurement=measurement)
            for place in range(len(table))
        ]
        assert counted.without_annotators() == pytest.approx(without, abs=1e-9)


@pytest.mark.parametrize("measurement", ["nominal", "interval"])
def test_fifty_thousand_units_need_no_matrix_for_each(measurement):
    """With two values each, 101 values and no agreement: the package would need 4 GB."""
    ratings = np.random.default_rng(4).integers(0, 101, (2, 50_000)).astype(float)
    found = krippendorff_alpha(ratings, measurement=measurement)
    # By the definition, pair by pair. Of two values each, D_o is the mean distance of a unit.
    apart = ratings[0] - ratings[1]
    _, n_v = np.unique(ratings, return_counts=True)
    n = n_v.sum()
    if measurement == "nominal":
        observed, expected = (apart != 0).mean(), (n**2 - (n_v**2).sum()) / (n * (n - 1))
    else:
        observed, expected = (apart**2).mean(), 2 * ratings.var(ddof=1)
    assert found.value == pytest.approx(1 - observed / expected, abs=1e-12)
    assert found.low < 0 < found.high


def test_a_person_alone_has_no_alpha():
    """Two people: without either of them no unit has two values."""
    ratings = simulated(n_annotators=2, missing=0)
    counted = CountedValues.of(ratings, np.unique(ratings), "ordinal")
    assert np.isnan(counted.without_annotators()).all()


def test_people_who_rate_many_units_widen_the_interval():
    """A person's own leaning runs through all that she rates: units alone do not see it."""
    rng = np.random.default_rng(5)
    ratings = rng.normal(size=(1, 500)) + rng.normal(size=(12, 1)) + rng.normal(size=(12, 500))
    widths = [
        found.high - found.low
        for over in ("units", "annotators")
        for found in [krippendorff_alpha(ratings.round(), measurement="interval", over=over)]
    ]
    assert widths[1] > 1.5 * widths[0]


def test_units_with_one_value_do_not_count():
    with_single = np.array([[1, 2, 3, 5], [1, 2, 4, np.nan]])
    found, without = (krippendorff_alpha(x) for x in (with_single, with_single[:, :3]))
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
    assert (found.reason, found.interval_reason) == ("", UndefinedReason.FEW_UNITS)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="shape"):
        krippendorff_alpha([1, 2])
    with pytest.raises(ValueError, match="infinite"):
        krippendorff_alpha([[1, np.inf], [1, 2]])
    with pytest.raises(ValueError, match="'numbers'"):
        krippendorff_alpha([[1], [1]], measurement="numbers")
