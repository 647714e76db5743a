"""Self-agreement of the repeated group. The paper asks for 80 % and does not define a match; the
rule is the one of methods.md §9: same side of 50, or within 10 points."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from annotation.instruments.checks import (
    judge_repeat,
    measure_rank_agreement,
    measure_self_agreement,
)
from annotation.instruments.content_hash import describe_instrument, hash_instrument
from annotation.models import AgreementRule, CheckResponse, Instrument, Submission

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


@pytest.mark.parametrize(
    ("first", "second", "matches"),
    [
        pytest.param(80, 51, False, id="same-side-far-apart"),
        pytest.param(45, 55, True, id="ten-apart"),
        pytest.param(80, 91, False, id="eleven-apart"),
        pytest.param(50, 50, True, id="equal"),
    ],
)
def test_by_distance_the_side_does_not_matter(first: float, second: float, matches: bool) -> None:
    agreement = measure_self_agreement(
        {"s": first}, {"s": second}, within=10, rule=AgreementRule.WITHIN
    )
    assert agreement.matching == int(matches)


def test_kendalls_tau_b_against_a_hand_derivation() -> None:
    # Pairs of (10, 20, 20, 40) with (30, 10, 50, 70): ab - , ac +, ad +, bc 0 (tied first), bd +,
    # cd +: C - D = 4 - 1 = 3. Six pairs, one tied in the first rating, none in the second:
    # 3 / sqrt(5 * 6) = 0.547723 (six decimals).
    first = dict(zip("abcd", (10, 20, 20, 40), strict=True))
    second = dict(zip("abcd", (30, 10, 50, 70), strict=True))
    agreement = measure_rank_agreement(first, second)
    assert (agreement.tau, agreement.n_scales) == (pytest.approx(0.547723, abs=1e-6), 4)
    assert agreement.reaches(0.5)
    assert not agreement.reaches(0.55)


def test_the_opposite_order_is_minus_one() -> None:
    turned = measure_rank_agreement({"a": 1, "b": 2, "c": 3}, {"a": 9, "b": 8, "c": 7})
    assert turned.tau == -1


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=16))
def test_kendalls_tau_b_against_scipy(pairs: list[tuple[int, int]]) -> None:
    first = {str(n): float(one) for n, (one, _other) in enumerate(pairs)}
    second = {str(n): float(other) for n, (_one, other) in enumerate(pairs)}
    expected = stats.kendalltau(list(first.values()), list(second.values())).statistic
    assert measure_rank_agreement(first, second).tau == pytest.approx(expected, nan_ok=True)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        pytest.param({"a": 5, "b": 5}, {"a": 1, "b": 2}, "the first rating has all", id="first"),
        pytest.param({"a": 1, "b": 2}, {"a": 5, "b": 5}, "the second rating has all", id="second"),
        pytest.param({"a": 1}, {"a": 1}, "Fewer than two lines", id="one-line"),
    ],
)
def test_an_undefined_tau_is_no_failure(first: dict, second: dict, reason: str) -> None:
    found = judge_repeat(first, second, instrument=Instrument(agreement_rule=AgreementRule.KENDALL))
    assert (found.value, found.passed) == (None, None)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("rule", "value", "passed", "expected"),
    [
        # Same side or within 10: a, b and d of four; three quarters.
        pytest.param("same_side", 0.75, False, 0.8, id="same-side"),
        # Within 10: b and d only.
        pytest.param("within", 0.5, False, 0.8, id="within"),
        # (70, 20, 48, 90) and (95, 25, 70, 85): ab +, ac +, ad - (70 < 90, 95 > 85), bc +, bd +,
        # cd +: (5 - 1) / 6.
        pytest.param("kendall", 4 / 6, True, 0.5, id="kendall"),
    ],
)
def test_the_instrument_chooses_the_rule(
    rule: str, value: float, passed: bool, expected: float
) -> None:
    first = dict(zip("abcd", (70, 20, 48, 90), strict=True))
    second = dict(zip("abcd", (95, 25, 70, 85), strict=True))
    found = judge_repeat(first, second, instrument=Instrument(agreement_rule=rule))
    if rule == "same_side":
        # 70/95, 20/25 and 90/85 lie on one side; 48/70 does not and is 22 apart.
        assert found.answer == {"matching": 3, "scales": 4}
    assert found.value == pytest.approx(value)
    assert (found.passed, found.expected["rule"]) == (passed, rule)
    assert found.expected["at_least"] == expected


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("rate", "value", "passed", "everything"),
    [
        pytest.param(lambda group, scale: 5 * len(scale), 1.0, True, True, id="the-same-order"),
        # All lines at one place: there is no order, which is nobody's failure.
        pytest.param(lambda group, scale: 30, None, None, None, id="undefined"),
    ],
)
def test_a_visit_is_judged_by_the_instruments_rule(
    make_study, make_person, rate, value, passed, everything
) -> None:
    study = make_study(
        flow=["consent", "rating", "rating", "repeat"],
        instrument_options={"agreement_rule": "kendall"},
    )
    person = make_person(rate)
    person.start(study.get_absolute_url())
    person.go_on()
    submission = Submission.objects.get()
    check = CheckResponse.objects.get()
    assert (submission.state, check.passed, submission.checks_passed) == (
        "finished",
        passed,
        everything,
    )
    assert submission.self_agreement == check.answer["tau"] == value
    assert check.expected == {"rule": "kendall", "at_least": 0.5}
    assert bool(check.reason) is (passed is None)


@pytest.mark.django_db
def test_another_rule_changes_the_hash_of_the_instrument_and_the_usual_one_does_not(
    make_study,
) -> None:
    instrument = make_study(launched=False).instruments.get()
    usual = hash_instrument(instrument)
    assert "agreement_rule" not in describe_instrument(instrument)
    instrument.agreement_tau = 0.7  # not used by the usual rule
    assert hash_instrument(instrument) == usual
    hashes = {usual}
    for rule, tau in (("within", 0.7), ("kendall", 0.7), ("kendall", 0.6)):
        instrument.agreement_rule, instrument.agreement_tau = rule, tau
        hashes.add(hash_instrument(instrument))
    assert len(hashes) == 4
