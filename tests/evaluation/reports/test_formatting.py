"""How reports print numbers. Expected texts follow the house's writing rules."""

import math

from evaluation.reports.parts.formatting import count, interval, listing, number, p_value


def test_minus_is_a_true_minus_sign_and_never_stands_before_zero():
    assert number(-0.314) == "−0.31"
    assert number(-0.001) == "0.00"
    assert number(0.0, signed=True) == "0.00"
    assert number(0.24, signed=True) == "+0.24"


def test_undefined_number_is_a_dash_and_never_zero():
    assert number(math.nan) == "–"
    assert number(None) == "–"
    assert interval(math.nan, 0.4) == "–"


def test_interval_says_to_because_a_dash_beside_minus_signs_is_ambiguous():
    assert interval(-0.22, 0.52) == "−0.22 to 0.52"


def test_small_p_value_is_a_bound_and_undefined_one_says_so():
    assert p_value(0.0004) == "p < 0.001"
    assert p_value(0.0312) == "p = 0.031"
    assert p_value(math.nan) == "p undefined"


def test_counts_carry_their_noun():
    assert count(1, "rating") == "1 rating"
    assert count(20, "rating") == "20 ratings"
    assert count(2, "entry", "entries") == "2 entries"
    assert count(12345, "rating") == "12\u202f345 ratings"


def test_listing_joins_with_and():
    assert listing([]) == ""
    assert listing(["a"]) == "a"
    assert listing(["a", "b", "c"]) == "a, b and c"
