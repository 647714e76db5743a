"""People's ratings of guises: means and differences by hand, intervals on simulated studies."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from evaluation.analyses.guise_people import GuisePeopleOptions, analyze_guise_people
from evaluation.analyses.guise_ratings import (
    FEW_ITEMS,
    FEW_RATERS,
    GuiseRatings,
    build_guise_ratings,
    compare_guises,
    item_differences,
    item_raters,
    person_values,
    weigh,
)
from evaluation.analyses.rating_cube import RatingCube
from evaluation.analyses.three_pictures import (
    PictureOptions,
    rated_groups_picture,
    rated_speakers_picture,
)
from evaluation.metrics import UndefinedReason

GUISES, SCALES = ("AAL", "WME"), ("cold-warm", "poor-wealthy")

# Four people; item q has both guises on the first scale only, r has one.
ROWS = [
    ("ann", "p-aal", "p", "AAL", "cold-warm", 60.0),
    ("ben", "p-aal", "p", "AAL", "cold-warm", 80.0),
    ("cem", "p-wme", "p", "WME", "cold-warm", 40.0),
    ("ann", "q-wme", "q", "WME", "cold-warm", 50.0),
    ("cem", "q-aal", "q", "AAL", "cold-warm", 45.0),
    ("ann", "p-aal", "p", "AAL", "poor-wealthy", 10.0),
    ("cem", "p-wme", "p", "WME", "poor-wealthy", 30.0),
    ("dia", "r-aal", "r", "AAL", "cold-warm", 99.0),
]


def rated():  # type: ignore[no-untyped-def]
    return build_guise_ratings(ROWS, guises=GUISES, scales=SCALES)


def test_differences_by_hand() -> None:
    """Warm: p is 70 and 40, q is 45 and 50, r is left out: means 57.5 and 45."""
    warm, wealthy = compare_guises(rated(), 0.95)
    assert (warm.first.value, warm.second.value, warm.difference.value) == (57.5, 45.0, 12.5)
    assert (wealthy.first.value, wealthy.second.value) == (10.0, 30.0)
    assert wealthy.difference.value == -20.0
    assert [(one.difference.n, one.n_people) for one in (warm, wealthy)] == [(2, 3), (1, 2)]
    items = item_differences(rated())
    assert items[:, 0].tolist()[:2] == [30.0, -5.0]
    assert np.isnan(items[2]).all()
    assert items[0, 1] == -20
    assert item_raters(rated())[:, 0].tolist()[:2] == [3, 2]


def test_the_cube_holds_every_rating_once() -> None:
    one = rated()
    cube = one.cube
    assert cube.shape == (4, 3, 2, 2)
    assert np.count_nonzero(~np.isnan(cube)) == len(ROWS)
    assert cube[one.people.index("ben"), one.items.index("p"), 0, 0] == 80


def test_weights_of_people_and_items() -> None:
    """Without Ben, p in AAL is 60; item q counted twice: (20 - 5 - 5) / 3."""
    one = rated()
    people = np.array([[float(name != "ben") for name in one.people]])
    items = np.array([[{"p": 1.0, "q": 2.0, "r": 1.0}[name] for name in one.items]])
    assert weigh(one, people, items)[1][0, 0] == pytest.approx(10 / 3)
    assert np.isnan(weigh(one, 0 * people, items)[1]).all()


def test_exchanged_guises_change_the_sign() -> None:
    one, _ = simulate(np.random.default_rng(3))
    turned = replace(one, guises=one.guises[::-1], guise=1 - one.guise)
    [found], [other] = (compare_guises(some, 0.95) for some in (one, turned))
    assert other.difference.value == pytest.approx(-found.difference.value)
    assert other.difference.low == pytest.approx(-found.difference.high)
    assert other.difference.p_value == pytest.approx(found.difference.p_value)


def test_the_interval_by_hand() -> None:
    """Five items with both guises rated by two of ten people each, who deviate by ±1.

    Items differ by 0, 2, 4, 6, 8 between guises: mean 4, variance 10, of the mean 2. A rating adds
    ±√2 / (5 · 2), twenty of them 0.4 in squares; two of each person, alike in sign, 0.8 together.
    v = 0.8 + 2 − 0.4, df = v² / (0.8² / 9 + 2² / 4 + 0.4² / 10).
    """
    rows = []
    for item in range(5):
        for who, up in (("up", 1), ("down", -1)):
            # The same people rate the item in AAL and the next one in WME.
            for number, guise, value in (
                (item, "AAL", 50.0 + 2 * item + up),
                ((item + 1) % 5, "WME", 50.0 - up),
            ):
                name = f"i{number}"
                rows.append((f"{who}{item}", f"{name}-{guise}", name, guise, "cold-warm", value))
    one = build_guise_ratings(rows, guises=GUISES, scales=("cold-warm",))
    [found] = compare_guises(one, 0.95)
    v = 0.8 + 2 - 0.4
    df = v**2 / (0.8**2 / 9 + 2**2 / 4 + 0.4**2 / 10)
    assert (found.difference.value, found.n_people) == (4.0, 10)
    reach = stats.t.ppf(0.975, df) * math.sqrt(v)
    assert found.difference.high == pytest.approx(4 + reach)
    assert found.difference.p_value == pytest.approx(2 * stats.t.sf(4 / math.sqrt(v), df))


def test_person_values_average_to_the_difference() -> None:
    one, _ = simulate(np.random.default_rng(3), people=30)
    found = person_values(one)
    np.testing.assert_allclose(
        np.nanmean(found, axis=0), [row.difference.value for row in compare_guises(one, 0.95)]
    )


@pytest.mark.parametrize("guises", [("AAL",), ("AAL", "AAL"), ("AAL", "WME", "SSE")])
def test_two_varieties_are_needed(guises) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match="expected two different"):
        build_guise_ratings(ROWS, guises=guises, scales=SCALES)


def test_who_met_both_guises_is_refused() -> None:
    both = [*ROWS, ("ann", "p-wme", "p", "WME", "cold-warm", 20.0)]
    with pytest.raises(ValueError, match="ann rated two guises of p"):
        build_guise_ratings(both, guises=GUISES, scales=SCALES)


def simulate(rng, *, people: int = 40, items: int = 12, shift: float = 8.0):  # type: ignore[no-untyped-def]
    """Each person rates three texts of either guise; people, items and their guises differ."""
    truth = shift + rng.normal(0, 6, items)
    level, of_item = rng.normal(0, 10, people), rng.normal(0, 8, items)
    rows = []
    for person in range(people):
        for place, item in enumerate(rng.choice(items, 6, replace=False)):
            guise = GUISES[place % 2]
            value = 50 + level[person] + of_item[item] + rng.normal(0, 12)
            value += truth[item] / 2 if guise == "AAL" else -truth[item] / 2
            name = f"i{item:02}"
            rows.append((f"s{person:03}", f"{name}-{guise}", name, guise, "cold-warm", value))
    return build_guise_ratings(rows, guises=GUISES, scales=("cold-warm",)), shift


def test_intervals_cover_the_difference_that_was_planted() -> None:
    """95 % intervals of 120 studies: fewer than 107 hold with a chance of 0.3 %."""
    rng, covered = np.random.default_rng(11), 0
    for _ in range(120):
        one, shift = simulate(rng)
        [found] = compare_guises(one, 0.95)
        covered += found.difference.low <= shift <= found.difference.high
    assert covered >= 0.89 * 120


def test_person_values_say_how_far_other_people_move_the_difference() -> None:
    """Same texts, other people, 150 times: the mean standard error is the spread that is seen."""
    seen, told = [], []
    for number in range(150):
        texts = np.random.default_rng(5)
        truth, of_item = 8 + texts.normal(0, 6, 12), texts.normal(0, 8, 12)
        rng = np.random.default_rng([9, number])
        rows = []
        for person in range(60):
            level = rng.normal(0, 10)
            for place, item in enumerate(rng.choice(12, 6, replace=False)):
                value = 50 + level + of_item[item] + rng.normal(0, 12)
                value += truth[item] * (0.5 - place % 2)
                names = (f"s{person}", f"{item}-{place % 2}", f"i{item:02}", GUISES[place % 2])
                rows.append((*names, "cold-warm", value))
        one = build_guise_ratings(rows, guises=GUISES, scales=("cold-warm",))
        values = person_values(one)[:, 0]
        seen.append(compare_guises(one, 0.95)[0].difference.value)
        told.append(np.std(values, ddof=1) / np.sqrt(values.size))
    assert np.mean(told) == pytest.approx(np.std(seen, ddof=1), rel=0.2)


def few_people(people: int, items: int) -> GuiseRatings:
    """Each person rates one guise of every item, in turn, on one scale."""
    rows = [
        (f"s{person}", f"i{item}-{guise}", f"i{item}", guise, "cold-warm", 20.0 + 10 * person)
        for person in range(people)
        for item in range(items)
        for guise in [GUISES[(person + item) % 2]]
    ]
    return build_guise_ratings(rows, guises=GUISES, scales=("cold-warm",))


@pytest.mark.parametrize(
    ("people", "items", "reason"),
    [(2, 1, FEW_ITEMS), (20, 4, FEW_ITEMS), (9, 5, FEW_RATERS), (10, 5, "")],
)
def test_few_pairs_or_people_give_no_interval_and_no_p(
    people: int, items: int, reason: str
) -> None:
    """Two people and one text: a difference of −10, and nothing that it could be told from."""
    one = few_people(people, items)
    [line] = analyze_guise_people(one, [], {}, GuisePeopleOptions()).scales
    assert line.difference.interval_reason == reason
    assert math.isnan(line.difference.low) == math.isnan(line.p_value) == bool(reason)
    assert math.isnan(line.p_holm) == bool(reason)
    if (people, items) == (2, 1):  # 20 by the first in AAL, 30 by the second in WME
        assert (line.difference.value, line.difference.n, line.n_people) == (-10.0, 1, 2)
    [estimate] = rated_speakers_picture(one, PictureOptions()).estimates
    assert (estimate.interval_reason, estimate.n) == (reason, people)
    assert math.isnan(estimate.low) == bool(reason)


def test_few_people_give_no_interval_of_two_groups() -> None:
    """Each rated one of two groups."""
    for people, reason in ((2, UndefinedReason.FEW_RATINGS), (20, "")):
        values = np.full((people, 2, 1), np.nan)
        values[np.arange(people), np.arange(people) % 2, 0] = np.arange(people)
        names = tuple(map(str, range(people)))
        cube = RatingCube(names, ("one", "other"), ("cold-warm",), values)
        [found] = rated_groups_picture(cube, PictureOptions()).estimates
        assert found.value == -1.0  # 0 − 1; 9 − 10
        assert found.interval_reason == reason
        assert math.isnan(found.low) == bool(reason)
