"""Self-agreement of the repeated group. The paper asks for 80 % and does not define a match; the
rule is the one of methods.md §9: same side of 50, or within 10 points."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.survey.checks import measure_self_agreement

profiles = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 100), min_size=1)


@pytest.mark.parametrize(
    ("first", "second", "matches"),
    [
        (80, 51, True),  # same side, far apart
        (0, 49, True),
        (45, 55, True),  # sides differ, 10 apart
        (44, 55, False),  # sides differ, 11 apart
        (50, 50, True),  # on no side, no distance
        (50, 60, True),  # on no side, 10 apart
        (50, 61, False),  # on no side, 11 apart
        (50, 39, False),
        (0, 100, False),
    ],
)
def test_match_of_two_ratings(first: float, second: float, matches: bool) -> None:
    agreement = measure_self_agreement({"s": first}, {"s": second}, within=10)
    assert agreement.matching == int(matches)


def test_share_is_matching_scales_over_all() -> None:
    # By hand: 70/90 same side; 20/80 no; 48/52 within 10; 50/75 no; 10/30 same side: 3 of 5.
    agreement = measure_self_agreement(
        {"a": 70, "b": 20, "c": 48, "d": 50, "e": 10},
        {"a": 90, "b": 80, "c": 52, "d": 75, "e": 30},
        within=10,
    )
    assert (agreement.matching, agreement.n_scales) == (3, 5)
    assert agreement.share == pytest.approx(0.6)


def test_threshold_is_reached_exactly() -> None:
    sixteen = {str(n): 90.0 for n in range(20)}
    four_off = {name: 10.0 if int(name) < 4 else 90.0 for name in sixteen}
    agreement = measure_self_agreement(sixteen, four_off, within=10)
    assert agreement.share == 0.8
    assert agreement.reaches(0.8)
    assert not agreement.reaches(0.85)


def test_nothing_in_common_gives_no_number() -> None:
    agreement = measure_self_agreement({"a": 1}, {"b": 1}, within=10)
    assert math.isnan(agreement.share)
    assert not agreement.reaches(0)


@given(profiles, st.integers(0, 50))
def test_same_ratings_agree_wholly(profile, within) -> None:
    assert measure_self_agreement(profile, profile, within=within).share == 1


@given(profiles, profiles, st.integers(0, 50))
def test_agreement_has_no_direction(first, second, within) -> None:
    forth = measure_self_agreement(first, second, within=within)
    assert forth == measure_self_agreement(second, first, within=within)
    turned = measure_self_agreement(
        {key: 100 - value for key, value in first.items()},
        {key: 100 - value for key, value in second.items()},
        within=within,
    )
    assert turned == forth
