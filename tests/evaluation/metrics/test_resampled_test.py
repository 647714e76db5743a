"""p-values from permutations, by counting."""

from __future__ import annotations

import math

import pytest

from evaluation.metrics.resampled_test import permutation_p_value


def test_permutations_count_the_smaller_side_twice():
    # At or above 4: two of five, at or below it four: 2 (1 + 2) / 6. Beyond all: 2 · 1 / 6.
    assert permutation_p_value(4, [1, 2, 3, 4, 5]) == 1
    assert permutation_p_value(9.0, [1, 2, 3, 4, 5]) == pytest.approx(2 / 6)
    assert permutation_p_value(5, [*range(1, 20)]) == pytest.approx(2 * 6 / 20)


def test_ties_up_to_rounding_count():
    assert permutation_p_value(0.1 + 0.2, [0.3] + [0.0] * 18) == pytest.approx(2 * 2 / 20)


def test_draws_that_could_not_be_computed_are_skipped():
    assert permutation_p_value(5.0, [1.0, math.nan, 3.0]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("draws", [[], [math.nan], [1.0, math.nan]])
def test_too_few_draws_give_no_p_value(draws):
    assert math.isnan(permutation_p_value(1.0, draws))


def test_no_estimate_gives_no_p_value():
    assert math.isnan(permutation_p_value(math.nan, [1.0, 2.0]))


def test_a_table_of_draws_is_refused():
    with pytest.raises(ValueError, match="list of resampled values"):
        permutation_p_value(1.0, [[1.0]])
